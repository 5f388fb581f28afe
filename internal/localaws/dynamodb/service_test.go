package dynamodb_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// clock is a clock that only moves when a test moves it.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) AfterFunc(time.Duration, func()) func() bool { return func() bool { return false } }

// service is an emulator with its clock, and the helpers of the tests.
type service struct {
	*dynamodb.Service
	clock *clock
}

func newService() service {
	c := &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return service{dynamodb.New(c, "eu-west-1", "123456789012"), c}
}

// call returns the response as JSON, with its members sorted.
func (s service) call(t testing.TB, operation, body string) (string, error) {
	t.Helper()
	response, err := s.Operate(t.Context(), &protocol.Request{Operation: operation, Body: []byte(body)})
	if err != nil {
		if response != nil {
			t.Errorf("%s: both an answer and %v", operation, err)
		}
		return "", err
	}
	b, err := json.Marshal(response)
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	return string(b), nil
}

// step is one request of a scenario and the expected response: JSON, or the
// code and a part of the message of an error.
type step struct{ operation, body, want, refused string }

func (s service) run(t *testing.T, steps ...step) {
	t.Helper()
	for i, st := range steps {
		got, err := s.call(t, st.operation, st.body)
		switch {
		case st.refused != "":
			wantRefused(t, err, st.refused)
		case err != nil:
			t.Fatalf("step %d, %s %s: %v", i, st.operation, st.body, err)
		case st.want != "":
			if diff := cmp.Diff(parsed(t, st.want), parsed(t, got)); diff != "" {
				t.Errorf("step %d, %s %s (-want +got):\n%s", i, st.operation, st.body, diff)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

func parsed(t testing.TB, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// wantRefused checks that err is the error "Code: part of the message".
func wantRefused(t testing.TB, err error, want string) *protocol.Error {
	t.Helper()
	code, message, _ := strings.Cut(want, ": ")
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || refusal.Code != code || !strings.Contains(refusal.Message, message) {
		t.Errorf("got %v, want %s", err, want)
		return &protocol.Error{}
	}
	if refusal.Status != 0 && refusal.Status != 400 {
		t.Errorf("%v has the status %d", err, refusal.Status)
	}
	return refusal
}

// Two tables: "jobs" with the string key id; "notes" with the string key id and
// the number sk, with indexes by owner and sk, and by rank.
const (
	createJobs = `{"TableName":"jobs","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`
	createNotes = `{"TableName":"notes","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},
			{"AttributeName":"owner","AttributeType":"S"},{"AttributeName":"rank","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[{"IndexName":"by-owner","Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["v"]},
			"KeySchema":[{"AttributeName":"owner","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}],
		"LocalSecondaryIndexes":[{"IndexName":"by-rank","Projection":{"ProjectionType":"KEYS_ONLY"},
			"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"rank","KeyType":"RANGE"}]}]}`
)

// withTables returns a service with both tables.
func withTables(t testing.TB) service {
	t.Helper()
	s := newService()
	for _, body := range []string{createJobs, createNotes} {
		if _, err := s.call(t, "CreateTable", body); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestUnknownOperationsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"ExecuteStatement", "CreateBackup", "putItem", ""} {
		_, err := newService().call(t, operation, `{}`)
		wantRefused(t, err, "UnknownOperationException: the operation "+operation)
	}
}

// Recorded by LocalStack in AWS on 2025-10-08.
func TestAStatementWithAnEmptyListOfParametersIsRefused(t *testing.T) {
	t.Parallel()
	_, err := newService().call(t, "ExecuteStatement", `{"Statement":"SELECT id FROM jobs","Parameters":[]}`)
	wantRefused(t, err, "ValidationException: 1 validation error detected: Value '[]' at 'parameters' failed to satisfy "+
		"constraint: Member must have length greater than or equal to 1")
	_, err = newService().call(t, "ExecuteStatement", `{"Statement":"SELECT id FROM jobs"}`)
	wantRefused(t, err, "UnknownOperationException: this emulator for DynamoDB does not implement")
}

func TestUnknownParametersAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ operation, body, member string }{
		{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"a"}},"Nonsense":1}`, "Nonsense of PutItem"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"jobs","Item":{"id":{"S":"a"}},"Expected":{}}}]}`,
			"Expected of TransactWriteItems"},
		{"CreateTable", strings.Replace(createJobs, `{`, `{"StreamSpecification":{"StreamEnabled":true},`, 1),
			"StreamSpecification with StreamEnabled=true of CreateTable"},
		{"CreateTable", strings.Replace(createJobs, `{`, `{"ResourcePolicy":"",`, 1), "ResourcePolicy of CreateTable"},
		{"DescribeTable", `{"tablename":"jobs"}`, "tablename of DescribeTable; names are case-sensitive"},
		{"PutItem", `{"TableName":"jobs","TABLENAME":"notes","Item":{"id":{"S":"a"}}}`, "TABLENAME of PutItem"},
		{"BatchGetItem", `{"RequestItems":{"jobs":{"keys":[{"id":{"S":"a"}}]}}}`, "keys of BatchGetItem"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"jobs","Extra":1}}]}`, "Extra of TransactWriteItems"},
	} {
		_, err := withTables(t).call(t, c.operation, c.body)
		wantRefused(t, err, "ValidationException: does not implement the parameter "+c.member)
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `[]`, `"x"`, `{"TableName":5}`, `{"TableName":"jobs","Item":{"id":{"S":5}}}`} {
		_, err := withTables(t).call(t, "PutItem", body)
		wantRefused(t, err, "SerializationException")
	}
}

func TestReturnMetricsNoneIsAccepted(t *testing.T) {
	t.Parallel()
	withTables(t).run(t, step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"a"}},
		"ReturnConsumedCapacity":"NONE","ReturnItemCollectionMetrics":"NONE"}`, `{}`, ""})
}
