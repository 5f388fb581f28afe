package dynamodb

import (
	"maps"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

// update holds the parameters shared by UpdateItem and an Update in a
// transaction.
type update struct {
	conditional

	Key              attribute.Item `rule:"required"`
	UpdateExpression *string
}

type updateItemParameters struct {
	update
	metrics

	ReturnValues string `rule:"enum=ALL_NEW|UPDATED_OLD|ALL_OLD|NONE|UPDATED_NEW"`
}

func (s *Service) updateItem(p *updateItemParameters) (writeResponse, error) {
	m, u, err := p.prepare(s)
	if err != nil {
		return writeResponse{}, err
	}
	used := &usage{table: m.table}
	c, err := m.commit(used)
	if err != nil {
		return writeResponse{}, err
	}
	response := writeResponse{ConsumedCapacity: p.report(used)}
	switch p.ReturnValues {
	case "ALL_OLD":
		response.Attributes = c.old
	case "ALL_NEW":
		response.Attributes = c.new
	case "UPDATED_OLD":
		response.Attributes = u.Updated().Of(c.old)
	case "UPDATED_NEW":
		response.Attributes = u.Updated().Of(c.new)
	}
	return response, nil
}

func (p *update) mutation(s *Service) (*mutation, error) {
	if p.UpdateExpression == nil {
		return nil, constraint("null", "transactItems.member.update.updateExpression", "Member must not be null")
	}
	m, _, err := p.prepare(s)
	return m, err
}

func (p *update) prepare(s *Service) (*mutation, expression.Update, error) {
	m, scope, err := p.begin()
	if err != nil {
		return nil, expression.Update{}, err
	}
	u, err := scope.Update(p.UpdateExpression)
	if err != nil {
		return nil, u, err
	}
	if err := scope.Close(); err != nil {
		return nil, u, err
	}
	if err := s.aim(m, p.TableName, p.Key); err != nil {
		return nil, u, err
	}
	for _, name := range u.Names() {
		if m.table.key.has(name) {
			return nil, u, badParameter("Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	m.apply = func(old attribute.Item) (attribute.Item, error) { return m.table.updated(old, p.Key, u) }
	return m, u, nil
}

// updated returns the item after an update. If there was none, an item is
// created that has its key from the start, so that expressions can read it. The
// caller holds the mutex.
func (t *table) updated(old, key attribute.Item, u expression.Update) (attribute.Item, error) {
	if old == nil {
		old = maps.Clone(key)
	}
	item, err := u.Apply(old)
	if err != nil {
		return nil, err
	}
	if item.Size() > maxItemBytes {
		return nil, attribute.Invalidf("Item size to update has exceeded the maximum allowed size")
	}
	return item, checkIndexKeys(t.indexes, item)
}
