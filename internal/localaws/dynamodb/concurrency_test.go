package dynamodb_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// together calls f in n goroutines that start at the same time, and waits for
// them.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func TestOneOfManyConditionalPutsSucceeds(t *testing.T) {
	t.Parallel()
	s := withTables(t)
	for round := range 20 {
		var won, lost atomic.Int32
		together(32, func(i int) {
			_, err := s.call(t, "PutItem", fmt.Sprintf(`{"TableName":"jobs","Item":{"id":{"S":"r%d"},"by":{"N":"%d"}},
				"ConditionExpression":"attribute_not_exists(id)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`, round, i))
			var refusal *protocol.Error
			switch {
			case err == nil:
				won.Add(1)
			case errors.As(err, &refusal) && refusal.Code == "ConditionalCheckFailedException" && refusal.Fields["Item"] != nil:
				lost.Add(1)
			default:
				t.Errorf("round %d: %v", round, err)
			}
		})
		if won.Load() != 1 || lost.Load() != 31 {
			t.Fatalf("round %d: %d won, %d lost", round, won.Load(), lost.Load())
		}
	}
}

func TestNoIncrementIsLost(t *testing.T) {
	t.Parallel()
	s := withTables(t)
	together(32, func(int) {
		for range 10 {
			if _, err := s.call(t, "UpdateItem", `{"TableName":"jobs","Key":{"id":{"S":"k"}},"UpdateExpression":"ADD n :one",
				"ExpressionAttributeValues":{":one":{"N":"1"}}}`); err != nil {
				t.Error(err)
			}
		}
	})
	s.run(t, step{"GetItem", getK, `{"Item":{"id":{"S":"k"},"n":{"N":"320"}}}`, ""})
}

// Transactions move amounts between two accounts while others read both. The
// sum never changes.
func TestTransactionsAreIsolated(t *testing.T) {
	t.Parallel()
	s := withTables(t)
	move := transaction("",
		strings.NewReplacer(`"b"`, `"x"`).Replace(addB),
		strings.NewReplacer(`"b"`, `"y"`, `"N":"1"`, `"N":"-1"`).Replace(addB))
	const read = `{"TransactItems":[
		{"Get":{"TableName":"jobs","Key":{"id":{"S":"x"}},"ProjectionExpression":"n"}},
		{"Get":{"TableName":"jobs","Key":{"id":{"S":"y"}},"ProjectionExpression":"n"}}]}`
	together(16, func(i int) {
		for range 20 {
			if i%2 == 0 {
				if _, err := s.call(t, "TransactWriteItems", move); err != nil {
					t.Error(err)
				}
				continue
			}
			got, err := s.call(t, "TransactGetItems", read)
			if err != nil {
				t.Error(err)
			}
			var n int
			if _, err := fmt.Sscanf(got, `{"Responses":[{"Item":{"n":{"N":"%d"`, &n); err != nil {
				continue // there is no item yet
			}
			if want := fmt.Sprintf(`{"Responses":[{"Item":{"n":{"N":"%d"}}},{"Item":{"n":{"N":"-%d"}}}]}`, n, n); got != want {
				t.Errorf("read %s", got)
			}
		}
	})
	s.run(t, step{"GetItem", `{"TableName":"jobs","Key":{"id":{"S":"y"}},"ProjectionExpression":"n"}`,
		`{"Item":{"n":{"N":"-160"}}}`, ""})
}

func TestTablesAreCreatedAndDeletedUnderLoad(t *testing.T) {
	t.Parallel()
	s := withTables(t)
	operations := []struct{ name, body string }{
		{"DeleteTable", `{"TableName":"jobs"}`},
		{"CreateTable", createJobs},
		{"PutItem", itemSize(100)},
		{"Scan", `{"TableName":"jobs"}`},
		{"DescribeTable", `{"TableName":"jobs"}`},
		{"ListTables", `{}`},
		{"TransactWriteItems", transaction(`,"ClientRequestToken":"t"`, putA)},
		{"BatchGetItem", `{"RequestItems":{"jobs":{"Keys":[{"id":{"S":"k"}}]}}}`},
	}
	together(len(operations)*4, func(i int) {
		o := operations[i%len(operations)]
		for range 20 {
			_, err := s.call(t, o.name, o.body)
			var refusal *protocol.Error
			if err != nil && (!errors.As(err, &refusal) || !strings.HasPrefix(refusal.Code, "Resource")) {
				t.Errorf("%s: %v", o.name, err)
			}
		}
	})
}
