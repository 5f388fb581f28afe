package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// attempt returns the failed run of that number, four minutes after the one
// before.
func attempt(n int, class, reason, message string, delay float64) handler.Attempt {
	start := noon.Add(-2*time.Hour + time.Duration(n)*4*time.Minute)
	end := start.Add(1234 * time.Millisecond)
	return handler.Attempt{
		Number: n, Start: handler.NewTimestamp(start), End: handler.NewTimestamp(end), Class: class, Reason: reason,
		Message: message, DelaySeconds: delay,
	}
}

// jobsInEachState returns a job in each state, with texts that could break a table.
func jobsInEachState() []ledger.Entry {
	job := func(id, status string, lease time.Duration) ledger.Entry {
		return ledger.Entry{
			ID: "charges#" + id, Status: status, Lease: noon.Add(lease), Expires: noon.Add(30 * 24 * time.Hour),
			Owner: "OWNER" + id, MessageID: "9b3c19b1-4b1a-70cc-1f33-4ff778505c2e", Validation: "c1:aaaa",
			Claims: 1, Settled: 1,
		}
	}
	held, waiting, due := job("held", "INPROGRESS", 32*time.Second), job("waiting", "INPROGRESS", 3*time.Minute),
		job("due", "INPROGRESS", -4*time.Second)
	left, done, sending := job("left", "INPROGRESS", -time.Hour), job("done", "COMPLETED", -time.Hour),
		job("sending", "DEAD", time.Second)
	unsent, dead, expired := job("unsent", "DEAD", -time.Minute), job("dead", "DEAD", -time.Minute),
		job("expired", "COMPLETED", -time.Hour)
	held.Settled, left.Settled = 0, 0
	left.Steps = map[string]string{"reserve": `{"id":"r-1"}`, "mail": "null"}
	left.Crashes, left.CrashStack = 1, "main.charge\n\tmain.go:17"
	waiting.Attempts = 1
	waiting.History = waiting.History.Append(attempt(1, "retryable", "unavailable", "HTTP 503", 180))
	expired.Expires = noon
	for n := 1; n <= 21; n++ {
		dead.History = dead.History.Append(
			attempt(n, "retryable", "unavailable", "POST\thttp://payments\n\x1b[31mHTTP 503", 2))
	}
	dead.History = dead.History.Append(attempt(22, "permanent", "declined", strings.Repeat("card declined ", 20), 0))
	dead.Attempts, dead.Unclassified, dead.Epoch, dead.Claims, dead.Settled = 22, 2, 1, 23, 22
	dead.DeadAt, dead.DeadLetterID = noon.Add(-time.Minute), "5f1c19b1-4b1a-70cc-1f33-4ff778505c2e"
	dead.Verdict = &handler.Failure{
		Class: "permanent", Reason: "declined", Rule: "card", Types: []string{"*main.CardError", "*errors.errorString"},
		Message: "card\ndeclined", Fingerprint: "0123456789ab", Stack: "main.charge\n\tmain.go:17",
	}
	unsent.Verdict, unsent.DeadAt = dead.Verdict, dead.DeadAt
	powertools := ledger.Entry{
		ID: "charges#" + strings.Repeat("a\n", 60), Status: "INPROGRESS",
		Other: map[string]any{"data": `{"charged":true}`, "n": 7},
	}
	other := ledger.Entry{ID: "mails#1", Status: "PAUSED", Lease: noon, Other: map[string]any{"bad": func() {}}}
	return []ledger.Entry{held, waiting, due, left, done, sending, unsent, dead, expired, powertools, other}
}

// golden compares output for users with the golden file of that name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if flag.Lookup("update").Value.String() == "true" { // script_test.go defines the flag
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; to take the new text: go test ./internal/cli -update):\n%s", name, diff)
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("%s: colours, or the escape codes of a message, in a pipe", name)
	}
}

func TestTextOfEachJob(t *testing.T) {
	t.Parallel()
	var all, out strings.Builder
	jobs := jobsInEachState()
	for i := range jobs {
		all.WriteString(jobText(&out, &jobs[i], noon) + "\n")
	}
	golden(t, "ledger_get.golden", all.String())
	golden(t, "ledger_list.golden", jobTable(&out, jobs, noon)+"\n")
}

// TestForgetNeedsYes checks the confirmation of forget.
func TestForgetNeedsYes(t *testing.T) {
	t.Parallel()
	job := &jobsInEachState()[4]
	job.Expires = time.Time{} // otherwise the question would depend on the time
	for answer, want := range map[string]bool{
		"y\n": true, "Yes \n": true, "y": true, "n\n": false, "\n": false, "": false, "yep\n": false,
	} {
		var questions bytes.Buffer
		err := (&LedgerForget{}).confirm(t.Context(), Streams{In: strings.NewReader(answer), Err: &questions},
			&ledger.Table{Name: "jobs"}, job)
		if (err == nil) != want {
			t.Errorf("the answer %q gives %v", answer, err)
		}
		const question = "charges#done is COMPLETED (done) in table jobs at http://127.0.0.1:4570.\n" +
			"Once forgotten, it runs again with its next message. Forget it? [y/N] "
		if diff := cmp.Diff(question, questions.String()); diff != "" && want {
			t.Errorf("question (-want +got):\n%s", diff)
		}
	}
}

func TestConfirmEndsWithItsContext(t *testing.T) {
	t.Parallel()
	in, hold := io.Pipe()
	t.Cleanup(func() { _ = hold.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := (&LedgerForget{}).confirm(ctx, Streams{In: in, Err: io.Discard}, &ledger.Table{}, &ledger.Entry{})
	if !errors.Is(err, errInterrupted) {
		t.Errorf("a signal in place of an answer gives %v", err)
	}
}
