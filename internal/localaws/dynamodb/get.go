package dynamodb

import (
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

// projected holds the parameters that select parts of an item.
type projected struct {
	ExpressionAttributeNames map[string]string
	ProjectionExpression     *string
}

func (p *projected) projection() (expression.Projection, error) {
	scope, err := expression.NewScope(p.ExpressionAttributeNames, nil)
	if err != nil {
		return expression.Projection{}, err
	}
	projection, err := scope.Projection(p.ProjectionExpression)
	if err != nil {
		return expression.Projection{}, err
	}
	return projection, scope.Close()
}

// get holds the parameters shared by GetItem and a Get in a transaction.
type get struct {
	projected
	TableName string
	Key       attribute.Item
}

type getItemParameters struct {
	get
	metrics
	ConsistentRead bool // not used: every read is consistent
}

type getItemResponse struct {
	Item attribute.Item `json:",omitzero"` // nil if the item does not exist
}

func (s *Service) getItem(p *getItemParameters) (getItemResponse, error) {
	if err := p.metrics.check("GetItem"); err != nil {
		return getItemResponse{}, err
	}
	l, err := p.lookup(s)
	if err != nil {
		return getItemResponse{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return getItemResponse{l.read()}, nil
}

// lookup is a checked read of one item.
type lookup struct {
	table      *table
	key        string
	projection expression.Projection
}

func (p *get) lookup(s *Service) (lookup, error) {
	projection, err := p.projection()
	if err != nil {
		return lookup{}, err
	}
	return s.newLookup(p.TableName, p.Key, projection)
}

func (s *Service) newLookup(tableName string, key attribute.Item, projection expression.Projection) (lookup, error) {
	t, err := s.lookup(tableName)
	if err != nil {
		return lookup{}, err
	}
	if err := t.key.checkKey(key); err != nil {
		return lookup{}, err
	}
	return lookup{t, t.key.encode(key), projection}, nil
}

// read returns the item, or nil. The caller holds the mutex.
func (l lookup) read() attribute.Item { return l.projection.Of(l.table.items[l.key]) }
