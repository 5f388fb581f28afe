package dynamodb

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// tokenLife is how long a ClientRequestToken is remembered.
const tokenLife = 10 * time.Minute

// transactionFactor is how many times more a transaction consumes than the same
// reads and writes alone.
const transactionFactor = 2

type transactWriteParameters struct {
	metrics

	ClientRequestToken *string         `rule:"len=1..36"`
	TransactItems      []transactWrite `rule:"required,len=1..100,is=TransactWriteItem"`
}

// transactWrite is one action. Exactly one member is set.
type transactWrite struct {
	Put            *put      `rule:"is=Put"`
	Update         *update   `rule:"is=Update"`
	Delete         *deletion `rule:"is=Delete"`
	ConditionCheck *deletion `rule:"is=ConditionCheck"`
}

// tokens are the finished transactions of the last minutes, by their
// ClientRequestToken. Transactions with a token run one at a time.
type tokens struct {
	mu   sync.Mutex
	done map[string]transaction
}

// transaction is a finished transaction with a ClientRequestToken.
type transaction struct {
	parameters string
	at         time.Time
}

type transactWriteResponse struct {
	ConsumedCapacity []*capacity `json:",omitempty"`
}

func (s *Service) transactWriteItems(p *transactWriteParameters) (transactWriteResponse, error) {
	mutations := make([]*mutation, len(p.TransactItems))
	for i, w := range p.TransactItems {
		m, err := w.mutation(s)
		if err != nil {
			return transactWriteResponse{}, err
		}
		mutations[i] = m
	}
	if repeated(mutations) {
		return transactWriteResponse{}, attribute.Invalidf(
			"Transaction request cannot include multiple operations on one item")
	}
	us := make(usages)
	repeat, err := s.once(p, func() error {
		if refusals := commitAll(mutations, us); refusals != nil {
			return cancelled(refusals)
		}
		return nil
	})
	if err != nil {
		return transactWriteResponse{}, err
	}
	if repeat {
		return transactWriteResponse{p.reportAll(repeatedReads(mutations), asReads)}, nil
	}
	return transactWriteResponse{p.reportAll(us, asWrites)}, nil
}

// repeatedReads is what a transaction consumes that was executed before: it
// reads its items.
func repeatedReads(mutations []*mutation) usages {
	tables := make([]*table, len(mutations))
	for i, m := range mutations {
		tables[i] = m.table
	}
	defer lock(tables, false)()
	us := make(usages)
	for _, m := range mutations {
		us.of(m.table).add(nil, transactionFactor*itemReadUnits(m.table.rows.Get(m.place), true))
	}
	return us
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
// before, which it reports.
func (s *Service) once(p *transactWriteParameters, do func() error) (repeat bool, err error) {
	if p.ClientRequestToken == nil {
		return false, do()
	}
	token := *p.ClientRequestToken
	parameters, err := json.Marshal(p.TransactItems)
	if err != nil {
		return false, err
	}
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	now := s.clock.Now()
	if done, ok := s.tokens.done[token]; ok && now.Sub(done.at) < tokenLife {
		if done.parameters == string(parameters) {
			return true, nil
		}
		return false, &protocol.Error{
			Code:    "IdempotentParameterMismatchException",
			Message: "The provided ClientRequestToken was already used with other parameters",
		}
	}
	if err := do(); err != nil {
		return false, err
	}
	for t, done := range s.tokens.done {
		if now.Sub(done.at) >= tokenLife {
			delete(s.tokens.done, t)
		}
	}
	s.tokens.done[token] = transaction{string(parameters), now}
	return false, nil
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
	readMetrics

	TransactItems []transactGet `rule:"required,len=1..100,is=TransactGetItem"`
}

type transactGet struct {
	Get *get `rule:"required,is=Get"`
}

type transactGetResponse struct {
	Responses        []getItemResponse
	ConsumedCapacity []*capacity `json:",omitempty"`
}

func (s *Service) transactGetItems(p *transactGetParameters) (transactGetResponse, error) {
	lookups := make([]lookup, len(p.TransactItems))
	tables := make([]*table, len(p.TransactItems))
	for i, item := range p.TransactItems {
		l, err := item.Get.lookup(s)
		if err != nil {
			return transactGetResponse{}, err
		}
		lookups[i], tables[i] = l, l.table
	}
	defer lock(tables, false)()
	us := make(usages)
	responses := make([]getItemResponse, len(lookups))
	for i, l := range lookups {
		item := l.read()
		us.of(l.table).add(nil, transactionFactor*itemReadUnits(item, true))
		responses[i].Item = l.projection.Of(item)
	}
	return transactGetResponse{responses, p.reportAll(us, asReads)}, nil
}
