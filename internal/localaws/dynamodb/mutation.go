package dynamodb

import (
	"errors"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// mutation is one write. Everything that does not depend on the item has been
// checked.
type mutation struct {
	table     *table
	place     keyspace.Place
	condition expression.Condition
	// showItem says whether the error of a failed condition includes the item.
	showItem bool
	// apply returns the new item; nil means none. The old item is nil if there
	// is none. A nil apply changes nothing.
	apply func(old attribute.Item) (attribute.Item, error)
}

// change is the effect of a mutation.
type change struct{ old, new attribute.Item }

// evaluate returns the effect of the mutation without storing it. The caller
// holds the table's mutex.
func (m *mutation) evaluate() (change, error) {
	old := m.table.rows.Get(m.place)
	if !m.condition.Match(old) {
		if m.showItem {
			return change{}, conditionFailed(old)
		}
		return change{}, conditionFailed(nil)
	}
	if m.apply == nil {
		return change{old, old}, nil
	}
	item, err := m.apply(old)
	return change{old, item}, err
}

// commit executes one mutation and adds what it consumes. Condition and write
// are atomic.
func (m *mutation) commit(u *usage) (change, error) {
	m.table.mu.Lock()
	defer m.table.mu.Unlock()
	c, err := m.evaluate()
	if err != nil {
		return c, err
	}
	u.wrote(c, 1)
	m.table.replace(c.old, c.new)
	return c, nil
}

// commitAll executes all mutations, or none if one of them fails. Then it
// returns the errors by mutation, nil for those that would succeed.
func commitAll(mutations []*mutation, us usages) (refusals []*protocol.Error) {
	tables := make([]*table, len(mutations))
	for i, m := range mutations {
		tables[i] = m.table
	}
	defer lock(tables, true)()
	changes := make([]change, len(mutations))
	refusals = make([]*protocol.Error, len(mutations))
	failed := false
	for i, m := range mutations {
		c, err := m.evaluate()
		changes[i] = c
		if refusal, ok := errors.AsType[*protocol.Error](err); ok {
			refusals[i], failed = refusal, true
		}
	}
	if failed {
		return refusals
	}
	for i, m := range mutations {
		us.of(m.table).wrote(changes[i], transactionFactor)
		m.table.replace(changes[i].old, changes[i].new)
	}
	return nil
}

// conditional holds the parameters that all conditional writes share.
type conditional struct {
	TableName                           string `rule:"required,table"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           placeholders `rule:"item"`
	ReturnValuesOnConditionCheckFailure string       `rule:"enum=ALL_OLD|NONE"`
}

// begin makes a mutation with its condition, which is its only expression.
func (p *conditional) begin() (*mutation, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, err
	}
	return p.on(scope)
}

// scope returns the placeholders.
func (p *conditional) scope() (*expression.Scope, error) {
	if err := p.ExpressionAttributeValues.check(); err != nil {
		return nil, early(err)
	}
	scope, err := expression.NewScope(p.ExpressionAttributeNames, p.ExpressionAttributeValues.item())
	return scope, early(err)
}

// on makes a mutation with its condition, the last expression of a scope.
func (p *conditional) on(scope *expression.Scope) (*mutation, error) {
	condition, err := scope.Condition("ConditionExpression", p.ConditionExpression)
	if err != nil {
		return nil, early(err)
	}
	return &mutation{
		condition: condition, showItem: p.ReturnValuesOnConditionCheckFailure == "ALL_OLD",
	}, early(scope.Close())
}

// aim sets the table and the place of a mutation.
func (s *Service) aim(m *mutation, tableName string, key attribute.Item) (err error) {
	if m.table, err = s.table(tableName); err != nil {
		return err
	}
	if err := m.table.key.checkKey(key); err != nil {
		return err
	}
	m.place = m.table.place(key)
	return nil
}
