package samtest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws"
)

const (
	charge = "ChargeFunction"
	stock  = "StockFunction"
	notify = "NotifyFunction"
)

// invocation is a file of events/ with the expected result.
type invocation struct {
	file, function string
	// outcomes are the expected outcomes of the records, each with its reason,
	// in the order of the log.
	outcomes []string
	// failed are the positions of the records that are reported as failed.
	failed []int
	// crash is the type of the error that takes the place of the answer; empty for an answer.
	crash string
	// faults are injected into the table and the queues.
	faults []localaws.Fault
}

// refused makes the table refuse a transaction, with an error that the SDK does
// not retry.
var refused = localaws.Fault{Operation: "TransactWriteItems", Code: "AccessDeniedException", Times: 1}

var invocations = []invocation{
	{file: "ok", function: charge, outcomes: []string{"done"}},
	{file: "retryable", function: charge, outcomes: []string{"retry rate_limited"}, failed: []int{0}},
	{file: "reset", function: charge, outcomes: []string{"retry connection"}, failed: []int{0}},
	{file: "unclassified", function: charge, outcomes: []string{"retry unclassified"}, failed: []int{0}},
	{file: "permanent", function: charge, outcomes: []string{"dead rejected"}},
	{file: "malformed", function: charge, outcomes: []string{"dead decode"}},
	{file: "missing-field", function: charge, outcomes: []string{"dead validation"}},
	{
		file: "mixed", function: charge, failed: []int{1},
		outcomes: []string{"done", "retry rate_limited", "dead decode", "dead validation", "done"},
	},
	{
		file: "duplicate", function: charge,
		outcomes: append([]string{"done"}, slices.Repeat([]string{"duplicate completed"}, 9)...),
	},
	{file: "busy", function: charge, outcomes: []string{"retry rate_limited", "busy claimed"}, failed: []int{0, 1}},
	{file: "panic", function: charge, crash: "*handler.PanicError", outcomes: []string{"crash panic"}},
	{file: "last-receive", function: charge, outcomes: []string{"dead max_receives"}},
	{file: "stock", function: stock, outcomes: []string{"done", "dead out_of_stock", "done"}},
	{
		file: "stock-group", function: stock, faults: []localaws.Fault{refused}, failed: []int{0, 1},
		outcomes: []string{"retry environment", "deferred group_head", "done"},
	},
	{file: "stock-duplicate", function: stock, outcomes: []string{"done", "duplicate completed"}},
	{file: "stock-malformed", function: stock, outcomes: []string{"dead decode", "done"}},
	{file: "stock-unknown", function: stock, outcomes: []string{"dead not_found"}},
	{file: "notify", function: notify, outcomes: []string{"done", "retry unavailable"}, failed: []int{1}},
	{file: "notify-duplicate", function: notify, outcomes: []string{"done", "duplicate completed"}},
	{file: "notify-invalid", function: notify, outcomes: []string{"dead validation"}},
}

func (in invocation) path() string { return filepath.Join(root, "events", in.file+".json") }

// event returns the content of the file, and the event that Lambda makes of it.
func (in invocation) event(t *testing.T) ([]byte, events.SQSEvent) {
	t.Helper()
	data, err := os.ReadFile(in.path())
	if err != nil {
		t.Fatal(err)
	}
	var event events.SQSEvent
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&event); err != nil {
		t.Fatalf("%s: %v", in.file, err)
	}
	return data, event
}

// compare compares an answer with the expected one.
func (in invocation) compare(t *testing.T, answer []byte) {
	t.Helper()
	if in.crash != "" {
		in.compareError(t, answer)
		return
	}
	_, event := in.event(t)
	want := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, n := range in.failed {
		want.BatchItemFailures = append(want.BatchItemFailures,
			events.SQSBatchItemFailure{ItemIdentifier: event.Records[n].MessageId})
	}
	var got events.SQSEventResponse
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatalf("answer %q: %v", answer, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// compareError compares the error of an invocation that crashed with the expected one.
func (in invocation) compareError(t *testing.T, answer []byte) {
	t.Helper()
	var got struct{ ErrorType, ErrorMessage string }
	if err := json.Unmarshal(answer, &got); err != nil || got.ErrorType != in.crash {
		t.Errorf("answer %q, error %v, want an error of type %s", answer, err, in.crash)
	}
}

func TestEveryEventFileHasAnExpectedResult(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "events", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile(filepath.Join(root, "events", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, file := range files {
		got = append(got, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	for _, in := range invocations {
		want = append(want, in.file)
		if !strings.Contains(string(manual), "| `"+in.file+".json` |") {
			t.Errorf("events/README.md says nothing of %s.json", in.file)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-expected +there):\n%s", diff)
	}
}
