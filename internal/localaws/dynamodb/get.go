package dynamodb

import (
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
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

	TableName string         `rule:"required,table"`
	Key       attribute.Item `rule:"required"`
}

type getItemParameters struct {
	get
	attributesToGet
	readMetrics

	ConsistentRead bool // every read is consistent, but it consumes by this
}

type getItemResponse struct {
	Item             attribute.Item `json:",omitzero"` // nil if the item does not exist
	ConsumedCapacity *capacity      `json:",omitempty"`
}

func (s *Service) getItem(p *getItemParameters) (getItemResponse, error) {
	attributes, err := p.attributesToGet.projection()
	if err != nil {
		return getItemResponse{}, err
	}
	l, err := p.lookup(s)
	if err != nil {
		return getItemResponse{}, err
	}
	if p.AttributesToGet != nil {
		l.projection = attributes
	}
	l.table.mu.RLock()
	defer l.table.mu.RUnlock()
	item := l.read()
	u := &usage{table: l.table, own: itemReadUnits(item, p.ConsistentRead)}
	return getItemResponse{l.projection.Of(item), p.report(u)}, nil
}

// lookup is a checked read of one item.
type lookup struct {
	table      *table
	place      keyspace.Place
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
	t, err := s.table(tableName)
	if err != nil {
		return lookup{}, err
	}
	if err := t.checkScalars(projection.Nested()); err != nil {
		return lookup{}, err
	}
	if err := t.key.checkKey(key); err != nil {
		return lookup{}, err
	}
	return lookup{t, t.place(key), projection}, nil
}

// read returns the whole item, or nil. The caller holds the table's mutex.
func (l lookup) read() attribute.Item { return l.table.rows.Get(l.place) }
