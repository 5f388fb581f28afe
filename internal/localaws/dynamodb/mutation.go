package dynamodb

import (
	"errors"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// mutation is one write, checked as far as it can be without the item.
type mutation struct {
	table     *table
	key       string // encoded
	condition expression.Condition
	// showItem is whether the item comes with the refusal when the condition is false.
	showItem bool
	// apply gives what is stored instead of the old item; nil is nothing. The old
	// item is nil if there is none. A nil apply changes nothing.
	apply func(old attribute.Item) (attribute.Item, error)
}

// change is what a mutation did.
type change struct{ old, new attribute.Item }

// evaluate says what the mutation would do. The caller holds the mutex.
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

// store puts a change in place. The caller holds the mutex.
func (m *mutation) store(c change) {
	if c.new == nil {
		delete(m.table.items, m.key)
		return
	}
	m.table.items[m.key] = c.new
}

// commit does one mutation. Condition and write are one step for all other callers.
func (s *Service) commit(m *mutation) (change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := m.evaluate()
	if err == nil {
		m.store(c)
	}
	return c, err
}

// commitAll does all mutations, or none if one of them cannot be done; then the
// refusals are those of each of them, nil where there is none. The caller holds
// the mutex.
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

// conditional are the parameters that all conditional writes have.
type conditional struct {
	TableName                           string
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attribute.Item
	ReturnValuesOnConditionCheckFailure string
}

// begin makes a mutation with its condition. What else is in the scope is left to
// the caller to parse, and the scope to close.
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

// aim points a mutation at an item of a table by its key.
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
