package dynamodb

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/shape"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Service holds the tables of one account in one region, in memory. It is safe
// for concurrent use.
type Service struct {
	clock           protocol.Clock
	region, account string
	keyID           string // of the key that AWS manages for tables

	mu      sync.RWMutex // guards the fields below, but not what is in the tables
	tables  map[string]*table
	created int // tables created so far

	tokens tokens
}

// New returns a Service without tables. It reads the time from clock. Its ARNs
// contain region and account.
func New(clock protocol.Clock, region, account string) *Service {
	return &Service{
		clock: clock, region: region, account: account, keyID: newID(),
		tables: make(map[string]*table), tokens: tokens{done: make(map[string]transaction)},
	}
}

// KeyID returns the id of the key that AWS would manage for tables.
func (s *Service) KeyID() string { return s.keyID }

// Operate answers one request. The response marshals to the JSON that AWS
// returns; an error that AWS would return is a [*protocol.Error].
func (s *Service) Operate(_ context.Context, r *protocol.Request) (response any, err error) {
	operate, ok := operations[r.Operation]
	if !ok {
		return nil, unknownOperation(r.Operation)
	}
	return operate(s, r)
}

func unknownOperation(name string) error {
	return &protocol.Error{
		Code:    "UnknownOperationException",
		Message: fmt.Sprintf("this emulator for DynamoDB does not implement the operation %s", name),
	}
}

type operation func(*Service, *protocol.Request) (any, error)

var operations = map[string]operation{
	"CreateTable":                 onTable((*Service).createTable),
	"DescribeTable":               onTable((*Service).describeTable),
	"UpdateTable":                 onTable((*Service).updateTable),
	"DeleteTable":                 onTable((*Service).deleteTable),
	"ListTables":                  decoded((*Service).listTables),
	"UpdateTimeToLive":            decoded((*Service).updateTimeToLive),
	"DescribeTimeToLive":          onTable((*Service).describeTimeToLive),
	"TagResource":                 onResource((*Service).tagResource),
	"UntagResource":               onResource((*Service).untagResource),
	"ListTagsOfResource":          onResource((*Service).listTagsOfResource),
	"DescribeLimits":              decoded((*Service).describeLimits),
	"DescribeEndpoints":           decoded((*Service).describeEndpoints),
	"DescribeContinuousBackups":   decoded((*Service).describeContinuousBackups),
	"UpdateContinuousBackups":     decoded((*Service).updateContinuousBackups),
	"DescribeContributorInsights": decoded((*Service).describeContributorInsights),
	"ExecuteStatement":            refuseStatement,
	"PutItem":                     decoded((*Service).putItem),
	"GetItem":                     decoded((*Service).getItem),
	"UpdateItem":                  decoded((*Service).updateItem),
	"DeleteItem":                  decoded((*Service).deleteItem),
	"Query":                       decoded((*Service).query),
	"Scan":                        decoded((*Service).scan),
	"BatchGetItem":                decoded((*Service).batchGetItem),
	"BatchWriteItem":              decoded((*Service).batchWriteItem),
	"TransactGetItems":            decoded((*Service).transactGetItems),
	"TransactWriteItems":          decoded((*Service).transactWriteItems),
}

// decoded makes an operation from a method that takes its parameters as a
// struct.
func decoded[P, R any](method func(*Service, *P) (R, error)) operation {
	return checked(method, func(*Service, string, map[string]any) error { return nil })
}

// onTable is decoded for the operations on tables, which check the name of the
// table before everything else.
func onTable[P, R any](method func(*Service, *P) (R, error)) operation {
	return checked(method, checkTableName)
}

// preliminary is a check that comes before those of the request's shape.
type preliminary func(s *Service, operation string, members map[string]any) error

func checked[P, R any](method func(*Service, *P) (R, error), first preliminary) operation {
	return func(s *Service, r *protocol.Request) (any, error) {
		parameters := new(P)
		members, err := shape.Object(r.Body)
		if err != nil {
			return nil, err
		}
		if err := shape.Types(members, reflect.TypeFor[P]()); err != nil {
			return nil, err
		}
		if err := r.CheckMembers(parameters); err != nil {
			return nil, err
		}
		if err := first(s, r.Operation, members); err != nil {
			return nil, err
		}
		if err := shape.Rules(members, reflect.TypeFor[P]()); err != nil {
			return nil, err
		}
		if err := checkExpressions(members, reflect.TypeFor[P]()); err != nil {
			return nil, err
		}
		if err := r.Decode(parameters); err != nil {
			return nil, reported(decodingError(err, r.Operation), r.Operation)
		}
		response, err := method(s, parameters)
		if err != nil {
			return nil, reported(err, r.Operation)
		}
		return response, nil
	}
}
