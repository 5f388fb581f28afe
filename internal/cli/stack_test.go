package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/local"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// several returns the arguments for a stack of three functions, with JSON
// output, that are built from one folder.
func several(args ...string) []string {
	return append([]string{"--no-check", "--template", filepath.Join("testdata", "stack", "template.json")}, args...)
}

// all returns the events of a kind.
func (s *stream) all(kind local.Kind) (events []local.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Kind == kind {
			events = append(events, e)
		}
	}
	return events
}

func TestSeveralFunctions(t *testing.T) {
	t.Parallel()
	s := start(t.Context(), t, several("--until-idle", "--jobs", filepath.Join("testdata", "stack", "jobs.jsonl"))...)
	summary := s.end(cli.ExitOK)
	summary.Time, summary.Attempts = time.Time{}, 0
	want := local.Summary{Kind: local.KindSummary, Jobs: 6, Done: 5, Dead: map[string]int{local.ReasonRedrive: 1}}
	if diff := cmp.Diff(want, summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	lines := map[string][]string{}
	for _, e := range s.all(local.KindOutput) {
		lines[e.Function] = append(lines[e.Function], strings.TrimPrefix(e.Line, "got "))
	}
	if diff := cmp.Diff([]string{"a a1", "a a2", "b b1"}, byGroup(lines["StockFunction"])); diff != "" {
		t.Errorf("what StockFunction got, by group (-want +got):\n%s", diff)
	}
	got := map[string]int{}
	for _, line := range lines["OrdersFunction"] {
		got[strings.TrimSpace(line)]++
	}
	if diff := cmp.Diff(map[string]int{"one": 1, "fail": 2, `{"to":"c-1"}`: 1}, got); diff != "" {
		t.Errorf("what OrdersFunction got of its two queues (-want +got):\n%s", diff)
	}
	if len(lines["AuditFunction"]) > 0 {
		t.Errorf("AuditFunction got %q although its event is switched off", lines["AuditFunction"])
	}
	ready := s.next(local.KindReady)
	building := s.all(local.KindBuilding)
	if len(building) != 3 || building[2].Time.After(ready.Time) {
		t.Errorf("builds %+v, want three before the stack is ready at %v", building, ready.Time)
	}
}

// byGroup moves group a to the front, and keeps the order within each group.
func byGroup(lines []string) []string {
	var a, rest []string
	for _, line := range lines {
		if strings.HasPrefix(line, "a ") {
			a = append(a, line)
		} else {
			rest = append(rest, line)
		}
	}
	return append(a, rest...)
}

// run runs a command while a stack is running.
func run(ctx context.Context, t *testing.T, code int, in string, args ...string) (out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr}
	if got := cli.Run(ctx, args, streams); got != code {
		t.Errorf("sqsafe %s: exit code %d, want %d; %s", strings.Join(args, " "), got, code, &stderr)
	}
	return stdout.String(), stderr.String()
}

func TestSendAndQueuesOnTheLocalStack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := start(ctx, t, several()...)
	endpoint := "--endpoint-sqs=http://" + s.next(local.KindReady).Address
	run(t.Context(), t, cli.ExitOK, "from the pipe", "send", "mail", endpoint)
	if e := s.next(local.KindOutput); e.Function != "OrdersFunction" || !strings.HasSuffix(e.Line, " from the pipe") {
		t.Errorf("output %+v, want the message", e)
	}
	run(t.Context(), t, cli.ExitOK, "", "send", "orders", "later", "--delay", "900", "--count", "3", endpoint)
	out, _ := run(t.Context(), t, cli.ExitOK, "", "queues", "--json", endpoint)
	type row struct {
		Name    string   `json:"name"`
		Delayed int      `json:"delayed"`
		Oldest  *float64 `json:"oldestSeconds"`
	}
	var rows []row
	for line := range strings.Lines(out) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if len(rows) != 4 || rows[1].Name != "orders" || rows[1].Delayed != 3 {
		t.Fatalf("queues %s", out)
	}
	if age := rows[1].Oldest; age == nil || *age < 0 || *age > 60 {
		t.Errorf("age of the oldest in orders: %v, want a moment", age)
	}
	if rows[2].Oldest != nil {
		t.Errorf("an empty queue has a message of %v s", *rows[2].Oldest)
	}
	cancel()
	if summary := s.end(cli.ExitOK); summary.Jobs != 4 || summary.Left != 3 {
		t.Errorf("summary %+v, want four jobs of which three are left", summary)
	}
}

// TestStackRunsOnAnotherServer runs the repository's stack with a second server in another
// account.
func TestStackRunsOnAnotherServer(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(provider.Close)
	server := localaws.New(&localaws.Options{Region: "eu-west-1", Account: "111122223333"})
	other := httptest.NewServer(server)
	t.Cleanup(other.Close)
	args := []string{
		"--until-idle", "--endpoint-sqs", other.URL, "--endpoint-dynamodb", other.URL, "PaymentUrl=" + provider.URL,
	}
	s := start(t.Context(), t, append(args, "--jobs", jobsFile(t, goodJob, `{"queue":"ChargeQueue","body":"no JSON"}`))...)
	summary := s.end(cli.ExitOK)
	if summary.Jobs != 2 || summary.Done != 1 || summary.Dead["decode"] != 1 || summary.Left+summary.Lost != 0 {
		t.Errorf("summary %+v, want one job done and one dead", summary)
	}
	dead := s.next(local.KindDead)
	if dead.DeadLetterQueue != "ChargeDeadLetterQueue" || dead.DeadLetterID == "" || dead.Reason != "decode" {
		t.Errorf("dead letter %+v", dead)
	}
	if ready := s.next(local.KindReady); ready.Address != "" {
		t.Errorf("something answers at %s beside the other engine", ready.Address)
	}
	again := start(t.Context(), t, append(args, "--jobs", jobsFile(t, goodJob))...)
	if summary := again.end(cli.ExitOK); summary.Duplicates != 1 {
		t.Errorf("summary %+v of a second run, want the job to be known in the engine's table", summary)
	}
	for _, q := range server.SQS().Stats() {
		if held := q.Visible + q.NotVisible + q.Delayed; (held == 1) != (q.Name == "ChargeDeadLetterQueue") {
			t.Errorf("queue %s holds %d messages", q.Name, held)
		}
	}
}

// TestARedriveInAnotherServerIsNoticed lets the other server move a message, which it
// does not report.
func TestARedriveInAnotherServerIsNoticed(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(localaws.New(nil))
	t.Cleanup(other.Close)
	s := start(t.Context(), t, several("--until-idle", "--endpoint-sqs", other.URL,
		"--jobs", jobsFile(t, `{"queue":"orders","body":"fail"}`, `{"queue":"orders","body":"good"}`))...)
	summary := s.end(cli.ExitOK)
	if summary.Jobs != 2 || summary.Done != 1 || summary.Dead[local.ReasonRedrive] != 1 {
		t.Errorf("summary %+v, want one job done and one redriven", summary)
	}
}

func TestSendIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") == "AmazonSQS.GetQueueAttributes" {
			_, _ = io.WriteString(w, "{}")
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // read the body, or the server does not notice that the client disconnects
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	out, errs := run(ctx, t, cli.ExitInterrupted, "", "send", web.URL+"/000000000000/q", "x", "--count", "12",
		"--endpoint-sqs", web.URL)
	if !strings.HasPrefix(out, "sent 0 of 12 messages to q") {
		t.Errorf("output %q", out)
	}
	want := "sqsafe: interrupted: 12 of 12 messages not sent, from message 1 on: " +
		"10 without an answer, perhaps sent, 2 not tried\n"
	if errs != want {
		t.Errorf("standard error %q, want %q", errs, want)
	}
}

// TestFilteredMessagesAreReported runs a function that is built by a Makefile, with
// an event that has a filter.
func TestFilteredMessagesAreReported(t *testing.T) {
	t.Parallel()
	s := start(t.Context(), t, "--until-idle", "--no-check",
		"--template", filepath.Join("testdata", "filtered", "template.yaml"),
		"--jobs", jobsFile(t, `{"queue":"Jobs","body":{"kind":"wanted"}}`, `{"queue":"Jobs","body":{"kind":"other"}}`,
			`{"queue":"Jobs","body":"no JSON"}`))
	summary := s.end(cli.ExitOK)
	if summary.Jobs != 3 || summary.Done != 1 || summary.Filtered != 2 || summary.Lost != 0 {
		t.Errorf("summary %+v, want one job done and two filtered", summary)
	}
	sent := s.all(local.KindSent)
	for i, e := range s.all(local.KindFiltered) {
		if e.Queue != "Jobs" || e.Function != "Worker" || e.MessageID != sent[i+1].MessageID || e.Reason == "" {
			t.Errorf("filtered event %+v", e)
		}
	}
	if got := s.all(local.KindOutput); len(got) != 1 || got[0].Line != `got  {"kind":"wanted"}` {
		t.Errorf("output %+v, want the wanted message only", got)
	}
}
