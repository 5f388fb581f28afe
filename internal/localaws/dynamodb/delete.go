package dynamodb

import "github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"

// deletion holds the parameters shared by DeleteItem and a Delete in a
// transaction.
type deletion struct {
	conditional

	Key attribute.Item `rule:"required"`
}

type deleteItemParameters struct {
	deletion
	expectations
	metrics

	ReturnValues string `rule:"enum=ALL_NEW|UPDATED_OLD|ALL_OLD|NONE|UPDATED_NEW"`
}

func (s *Service) deleteItem(p *deleteItemParameters) (writeResponse, error) {
	return s.replaceItem(&p.deletion, p.ReturnValues, p.expectations, p.metrics)
}

func (p *deletion) mutation(s *Service) (*mutation, error) {
	m, err := p.begin()
	if err != nil {
		return nil, err
	}
	m.apply = func(attribute.Item) (attribute.Item, error) { return nil, nil }
	if err := s.aim(m, p.TableName, p.Key); err != nil {
		return nil, err
	}
	return m, m.table.checkScalars(m.condition.Nested())
}
