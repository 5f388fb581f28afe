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
	Key              attribute.Item
	UpdateExpression *string
}

type updateItemParameters struct {
	update
	metrics
	ReturnValues string
}

func (s *Service) updateItem(p *updateItemParameters) (writeResponse, error) {
	if err := p.metrics.check("UpdateItem"); err != nil {
		return writeResponse{}, err
	}
	returned, err := oneOf("ReturnValues", p.ReturnValues, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
	if err != nil {
		return writeResponse{}, err
	}
	m, u, err := p.prepare(s)
	if err != nil {
		return writeResponse{}, err
	}
	c, err := s.commit(m)
	if err != nil {
		return writeResponse{}, err
	}
	switch returned {
	case "ALL_OLD":
		return writeResponse{c.old}, nil
	case "ALL_NEW":
		return writeResponse{c.new}, nil
	case "UPDATED_OLD":
		return writeResponse{u.Updated().Of(c.old)}, nil
	case "UPDATED_NEW":
		return writeResponse{u.Updated().Of(c.new)}, nil
	}
	return writeResponse{}, nil
}

func (p *update) mutation(s *Service) (*mutation, error) {
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

// updated returns the item after an update. It is created if it did not exist.
func (t *table) updated(old, key attribute.Item, u expression.Update) (attribute.Item, error) {
	item, err := u.Apply(old)
	if err != nil {
		return nil, err
	}
	if old == nil {
		maps.Copy(item, key) // safe: the item is new and not shared
	}
	if item.Size() > maxItemBytes {
		return nil, attribute.Invalidf("Item size to update has exceeded the maximum allowed size")
	}
	return item, t.checkIndexKeys(item)
}
