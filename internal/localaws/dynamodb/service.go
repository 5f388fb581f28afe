package dynamodb

import (
	"context"
	"fmt"
	"sync"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Service holds the tables of one account in one region, in memory. It is safe
// for concurrent use.
type Service struct {
	clock           protocol.Clock
	region, account string

	mu     sync.RWMutex // guards the fields below, and the tables
	tables map[string]*table
	tokens map[string]transaction // by ClientRequestToken
}

// New returns a Service without tables. It reads the time from clock. Its ARNs
// contain region and account.
func New(clock protocol.Clock, region, account string) *Service {
	return &Service{
		clock: clock, region: region, account: account,
		tables: make(map[string]*table), tokens: make(map[string]transaction),
	}
}

// Operate answers one request. The response marshals to the JSON that AWS
// returns; an error that AWS would return is a [*protocol.Error].
func (s *Service) Operate(_ context.Context, r *protocol.Request) (response any, err error) {
	operate, ok := operations[r.Operation]
	if !ok {
		return nil, &protocol.Error{
			Code:    "UnknownOperationException",
			Message: fmt.Sprintf("this emulator for DynamoDB does not implement the operation %s", r.Operation),
		}
	}
	return operate(s, r)
}

type operation func(*Service, *protocol.Request) (any, error)

var operations = map[string]operation{
	"CreateTable":        decoded((*Service).createTable),
	"DescribeTable":      decoded((*Service).describeTable),
	"DeleteTable":        decoded((*Service).deleteTable),
	"ListTables":         decoded((*Service).listTables),
	"UpdateTimeToLive":   decoded((*Service).updateTimeToLive),
	"DescribeTimeToLive": decoded((*Service).describeTimeToLive),
	"PutItem":            decoded((*Service).putItem),
	"GetItem":            decoded((*Service).getItem),
	"UpdateItem":         decoded((*Service).updateItem),
	"DeleteItem":         decoded((*Service).deleteItem),
	"Query":              decoded((*Service).query),
	"Scan":               decoded((*Service).scan),
	"BatchGetItem":       decoded((*Service).batchGetItem),
	"BatchWriteItem":     decoded((*Service).batchWriteItem),
	"TransactGetItems":   decoded((*Service).transactGetItems),
	"TransactWriteItems": decoded((*Service).transactWriteItems),
}

// decoded makes an operation from a method that takes its parameters as a
// struct.
func decoded[P, R any](method func(*Service, *P) (R, error)) operation {
	return func(s *Service, r *protocol.Request) (any, error) {
		parameters := new(P)
		if err := r.Decode(parameters); err != nil {
			return nil, err
		}
		response, err := method(s, parameters)
		if err != nil {
			return nil, err
		}
		return response, nil
	}
}
