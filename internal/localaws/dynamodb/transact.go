package dynamodb

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

const (
	// maxActions is the maximum number of actions in a transaction (service
	// quotas).
	maxActions = 100
	// tokenLife is how long a ClientRequestToken is remembered.
	tokenLife = 10 * time.Minute
	// maxTokenLength is the maximum length of a ClientRequestToken in
	// characters.
	maxTokenLength = 36
)

type transactWriteParameters struct {
	metrics
	ClientRequestToken *string
	TransactItems      []transactWrite
}

// transactWrite is one action. Exactly one member is set.
type transactWrite struct {
	Put            *put
	Update         *update
	Delete         *deletion
	ConditionCheck *deletion
}

// transaction is a finished transaction with a ClientRequestToken.
type transaction struct {
	parameters string
	at         time.Time
}

func (s *Service) transactWriteItems(p *transactWriteParameters) (struct{}, error) {
	if err := p.metrics.check("TransactWriteItems"); err != nil {
		return struct{}{}, err
	}
	if err := checkActions(len(p.TransactItems)); err != nil {
		return struct{}{}, err
	}
	mutations := make([]*mutation, len(p.TransactItems))
	for i, w := range p.TransactItems {
		m, err := w.mutation(s)
		if err != nil {
			return struct{}{}, err
		}
		mutations[i] = m
	}
	if repeated(mutations) {
		return struct{}{}, attribute.Invalidf("Transaction request cannot include multiple operations on one item")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return struct{}{}, s.once(p, func() error {
		if refusals := s.commitAll(mutations); refusals != nil {
			return cancelled(refusals)
		}
		return nil
	})
}

func checkActions(n int) error {
	if n < 1 || n > maxActions {
		return constraint("TransactItems", fmt.Sprintf("%d actions", n),
			fmt.Sprintf("Member must have length between 1 and %d", maxActions))
	}
	return nil
}

func (w transactWrite) mutation(s *Service) (*mutation, error) {
	var prepared []func(*Service) (*mutation, error)
	if w.Put != nil {
		prepared = append(prepared, w.Put.mutation)
	}
	if w.Update != nil {
		prepared = append(prepared, w.Update.mutation)
	}
	if w.Delete != nil {
		prepared = append(prepared, w.Delete.mutation)
	}
	if w.ConditionCheck != nil {
		prepared = append(prepared, w.ConditionCheck.check)
	}
	if len(prepared) != 1 {
		return nil, attribute.Invalidf("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return prepared[0](s)
}

// check makes a mutation that has only a condition.
func (p *deletion) check(s *Service) (*mutation, error) {
	if p.ConditionExpression == nil {
		return nil, attribute.Invalidf("The expression can not be empty: " +
			"a ConditionCheck must have a ConditionExpression")
	}
	m, err := p.mutation(s)
	if err != nil {
		return nil, err
	}
	m.apply = nil
	return m, nil
}

// once executes a transaction unless its token says that it was executed
// before. The caller holds the mutex.
func (s *Service) once(p *transactWriteParameters, do func() error) error {
	if p.ClientRequestToken == nil {
		return do()
	}
	token := *p.ClientRequestToken
	if len(token) < 1 || len(token) > maxTokenLength {
		return constraint("ClientRequestToken", token,
			fmt.Sprintf("Member must have length between 1 and %d", maxTokenLength))
	}
	parameters, err := json.Marshal(p.TransactItems)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	if done, ok := s.tokens[token]; ok && now.Sub(done.at) < tokenLife {
		if done.parameters == string(parameters) {
			return nil
		}
		return &protocol.Error{
			Code:    "IdempotentParameterMismatchException",
			Message: "The provided ClientRequestToken was already used with other parameters",
		}
	}
	if err := do(); err != nil {
		return err
	}
	for t, done := range s.tokens {
		if now.Sub(done.at) >= tokenLife {
			delete(s.tokens, t)
		}
	}
	s.tokens[token] = transaction{string(parameters), now}
	return nil
}

type cancellationReason struct {
	Code    string
	Message string         `json:",omitempty"`
	Item    attribute.Item `json:",omitempty"`
}

// cancelled returns the error of a cancelled transaction, with a reason for
// each of its actions.
func cancelled(refusals []*protocol.Error) error {
	reasons := make([]cancellationReason, len(refusals))
	codes := make([]string, len(refusals))
	for i, r := range refusals {
		reasons[i].Code = "None"
		if r != nil {
			reasons[i] = cancellationReason{Code: reasonCodes[r.Code], Message: r.Message}
			reasons[i].Item, _ = r.Fields["Item"].(attribute.Item)
		}
		codes[i] = reasons[i].Code
	}
	return &protocol.Error{
		Code: "TransactionCanceledException",
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]",
		Fields: map[string]any{"CancellationReasons": reasons},
	}
}

var reasonCodes = map[string]string{
	"ConditionalCheckFailedException": "ConditionalCheckFailed",
	"ValidationException":             "ValidationError",
}

type transactGetParameters struct {
	ReturnConsumedCapacity string
	TransactItems          []struct{ Get *get }
}

type transactGetResponse struct{ Responses []getItemResponse }

func (s *Service) transactGetItems(p *transactGetParameters) (transactGetResponse, error) {
	if err := (metrics{ReturnConsumedCapacity: p.ReturnConsumedCapacity}).check("TransactGetItems"); err != nil {
		return transactGetResponse{}, err
	}
	if err := checkActions(len(p.TransactItems)); err != nil {
		return transactGetResponse{}, err
	}
	lookups := make([]lookup, len(p.TransactItems))
	for i, item := range p.TransactItems {
		if item.Get == nil {
			return transactGetResponse{}, attribute.Invalidf("TransactItems[%d] has no Get", i)
		}
		l, err := item.Get.lookup(s)
		if err != nil {
			return transactGetResponse{}, err
		}
		lookups[i] = l
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	responses := make([]getItemResponse, len(lookups))
	for i, l := range lookups {
		responses[i].Item = l.read()
	}
	return transactGetResponse{responses}, nil
}
