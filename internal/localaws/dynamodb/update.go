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
	expectations
	metrics

	AttributeUpdates map[string]attributeUpdate `rule:"is=AttributeValueUpdate"`
	ReturnValues     string                     `rule:"enum=ALL_NEW|UPDATED_OLD|ALL_OLD|NONE|UPDATED_NEW"`
}

func (s *Service) updateItem(p *updateItemParameters) (writeResponse, error) {
	older, err := changes(p.AttributeUpdates)
	if err != nil {
		return writeResponse{}, err
	}
	condition, expects, err := p.condition()
	if err != nil {
		return writeResponse{}, err
	}
	m, u, err := p.prepare(s, older)
	if err != nil {
		return writeResponse{}, err
	}
	if expects {
		m.condition = condition
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
	m, _, err := p.prepare(s, expression.Update{})
	return m, err
}

// prepare makes the mutation. u is an update of the older form, which counts if
// there is no UpdateExpression.
func (p *update) prepare(s *Service, u expression.Update) (*mutation, expression.Update, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, expression.Update{}, err
	}
	if p.UpdateExpression != nil {
		if u, err = scope.Update(p.UpdateExpression); err != nil {
			return nil, u, early(err)
		}
	}
	m, err := p.on(scope)
	if err != nil {
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
	if err := checkIndexKeys(m.table.currentIndexes(), u.Known()); err != nil {
		return nil, u, err
	}
	if err := m.table.checkScalars(u.Nested(), m.condition.Nested()); err != nil {
		return nil, u, err
	}
	m.apply = func(old attribute.Item) (attribute.Item, error) { return m.table.updated(old, p.Key, u) }
	return m, u, nil
}

// updated returns the item after an update. If there was none, an item is
// created that has its key from the start, so that expressions can read it. The
// caller holds the mutex.
func (t *table) updated(old, key attribute.Item, u expression.Update) (attribute.Item, error) {
	if old == nil && u.OnlyRemoves() {
		return nil, nil
	}
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
	return item, t.checkUpdatedKeys(item)
}

// checkUpdatedKeys checks the keys of indexes of an updated item. What could be
// said before the update was evaluated has other messages. The caller holds the
// mutex.
func (t *table) checkUpdatedKeys(item attribute.Item) error {
	for _, i := range t.indexes {
		for _, a := range i.key.attributes() {
			v := item[a.name]
			if v == nil {
				continue
			}
			if v.Type() != a.dataType {
				return attribute.Invalidf("The update expression attempted to update the secondary index key to unsupported type")
			}
			if n, ok := attribute.Extent(v); ok && n == 0 {
				return attribute.Invalidf("One or more parameter values are not valid. "+
					"The update expression attempted to update a secondary index key to a value that is not supported. "+
					"The AttributeValue for a key attribute cannot contain an empty %s value.", typeNames[a.dataType])
			}
		}
	}
	return nil
}
