package dlq_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

var update = flag.Bool("update", false, "write the golden files")

// exhausted is a letter with everything that a record can tell.
func exhausted() handler.Letter {
	at := func(s int) handler.Timestamp {
		return handler.NewTimestamp(time.Date(2026, 3, 1, 9, 0, s, 120e6, time.FixedZone("CET", 3600)))
	}
	m := message("5fea7756-0ea4-451a-a703-a558b933e274", `{"id":"ch-6","amount":1250}`, full())
	m.Attributes = map[string]string{
		"SentTimestamp": "1772352000000", "MessageGroupId": "tenant-1",
		"MessageDeduplicationId": "ch-6", "SequenceNumber": "18849496460467696128",
	}
	const refused = "Post \"https://pay.example/charges\": dial tcp 10.0.0.7:443: connect: connection refused"
	var history handler.History
	for n, delay := range []float64{1.25, 2, 0} {
		history = history.Append(handler.Attempt{
			Number: n + 1, Start: at(n * 5), End: at(n*5 + 1), Class: "retryable", Reason: "network",
			Rule: "net.refused", Message: refused, DelaySeconds: delay, RequestID: "8f1c2d3e",
		})
	}
	return handler.Letter{Message: m, Failure: handler.Failure{
		Class: "retryable", Reason: "budget_spent", Rule: "net.refused",
		Types:   []string{"*url.Error", "*net.OpError", "*os.SyscallError", "syscall.Errno"},
		Message: refused, Fingerprint: "b1946ac92492d234",
		Stack: "main.charge\n\tcharge.go:41\nmain.main\n\tmain.go:12\n",
		Key:   "charge:ch-6", Epoch: 1, Verdict: true, Attempts: 3, History: history,
		First: at(1), Last: at(11),
	}}
}

func TestRecordAsTheConsoleShowsIt(t *testing.T) {
	t.Parallel()
	api := &fakeQueue{}
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "8f1c2d3e"})
	o := &dlq.Options{Function: "charge", FunctionVersion: "7"}
	send(ctx, t, api, standardURL, o, exhausted())
	got := *api.arrived[0].MessageAttributes[dlq.AttributeName].StringValue + "\n"
	file := filepath.Join("testdata", "record.golden.json")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the record changed; if that is meant, run the test with -update\ngot  %s\nwant %s", got, want)
	}
}
