package dynamodb

import (
	"errors"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// mutation is one write. Everything that does not depend on the item has been
// checked.
type mutation struct {
	table     *table
	key       string // encoded
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
// holds the mutex.
func (m *mutation) evaluate() (change, error) {
	old := m.table.items[m.key]
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

// store stores a change. The caller holds the mutex.
func (m *mutation) store(c change) {
	if c.new == nil {
		delete(m.table.items, m.key)
		return
	}
	m.table.items[m.key] = c.new
}

// commit executes one mutation. Condition and write are atomic.
func (s *Service) commit(m *mutation) (change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := m.evaluate()
	if err == nil {
		m.store(c)
	}
	return c, err
}

// commitAll executes all mutations, or none if one of them fails. Then it
// returns the errors by mutation, nil for those that would succeed. The caller
// holds the mutex.
func (s *Service) commitAll(mutations []*mutation) (refusals []*protocol.Error) {
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
		m.store(changes[i])
	}
	return nil
}

// conditional holds the parameters that all conditional writes share.
type conditional struct {
	TableName                           string
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attribute.Item
	ReturnValuesOnConditionCheckFailure string
}

// begin makes a mutation with its condition. The caller parses the other
// expressions and closes the scope.
func (p *conditional) begin() (*mutation, *expression.Scope, error) {
	onFailure := p.ReturnValuesOnConditionCheckFailure
	onFailure, err := oneOf("ReturnValuesOnConditionCheckFailure", onFailure, "NONE", "ALL_OLD")
	if err != nil {
		return nil, nil, err
	}
	scope, err := expression.NewScope(p.ExpressionAttributeNames, p.ExpressionAttributeValues)
	if err != nil {
		return nil, nil, err
	}
	condition, err := scope.Condition("ConditionExpression", p.ConditionExpression)
	return &mutation{condition: condition, showItem: onFailure == "ALL_OLD"}, scope, err
}

// aim sets the table and the key of a mutation.
func (s *Service) aim(m *mutation, tableName string, key attribute.Item) (err error) {
	if m.table, err = s.lookup(tableName); err != nil {
		return err
	}
	if err := m.table.key.checkKey(key); err != nil {
		return err
	}
	m.key = m.table.key.encode(key)
	return nil
}
