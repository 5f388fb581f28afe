package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/local"
)

// stream is the output of a running command as a stream of events.
type stream struct {
	t      *testing.T
	mu     sync.Mutex
	events []local.Event
	last   local.Summary
	over   bool
	ready  chan struct{} // closed when the stack accepts jobs; building takes a while
	seen   *sync.Cond
	err    bytes.Buffer
	code   chan int
}

// start runs the repository's own stack with the arguments.
func start(ctx context.Context, t *testing.T, args ...string) *stream {
	t.Helper()
	s := &stream{t: t, ready: make(chan struct{}), code: make(chan int, 1)}
	s.seen = sync.NewCond(&s.mu)
	reader, writer := io.Pipe()
	go s.read(reader)
	args = append([]string{"local", "--json", "--addr", "127.0.0.1:0", "--template", "../../template.yaml"}, args...)
	go func() {
		code := cli.Run(ctx, args, cli.Streams{Out: writer, Err: &s.err})
		_ = writer.Close()
		s.code <- code
	}()
	return s
}

func (s *stream) read(r io.Reader) {
	decoder := json.NewDecoder(r)
	for {
		var line json.RawMessage
		if decoder.Decode(&line) != nil {
			s.mu.Lock()
			s.over = true
			s.seen.Broadcast()
			s.mu.Unlock()
			return
		}
		var e local.Event
		if err := json.Unmarshal(line, &e); err != nil {
			s.t.Errorf("line %s: %v", line, err)
		}
		s.mu.Lock()
		switch e.Kind {
		case local.KindReady:
			close(s.ready)
		case local.KindSummary:
			_ = json.Unmarshal(line, &s.last)
		}
		s.events = append(s.events, e)
		s.seen.Broadcast()
		s.mu.Unlock()
	}
}

// next waits for an event of a kind.
func (s *stream) next(kind local.Kind) local.Event {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; ; i++ {
		for i >= len(s.events) {
			if s.over {
				s.t.Fatalf("the output ends without the event %s; standard error: %s", kind, &s.err)
			}
			s.seen.Wait()
		}
		if s.events[i].Kind == kind {
			return s.events[i]
		}
	}
}

// endLimit is the maximum duration of a command after its functions were built.
const endLimit = time.Minute

// end waits for the exit code and returns the summary.
func (s *stream) end(wantCode int) local.Summary {
	s.t.Helper()
	if code := s.exit(); code != wantCode {
		s.t.Errorf("exit code %d, want %d; standard error: %s", code, wantCode, &s.err)
	}
	s.next(local.KindSummary)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *stream) exit() int {
	s.t.Helper()
	select {
	case code := <-s.code:
		return code
	case <-s.ready:
	}
	select {
	case code := <-s.code:
		return code
	case <-time.After(endLimit):
		s.t.Fatalf("the command does not end within %v of being ready", endLimit)
		return 0
	}
}

func (s *stream) outcomes(id string) (outcomes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Kind == local.KindOutcome && e.MessageID == id {
			outcomes = append(outcomes, e.Outcome)
		}
	}
	return outcomes
}

func jobsFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const goodJob = `{"queue":"ChargeQueue","body":{"id":"ch-1","customer":"c-1","amount":1250,"currency":"EUR"}}`

// TestAKilledProcessLosesNoJobAndRepeatsNoCharge kills the function between the
// charge and its response.
func TestAKilledProcessLosesNoJobAndRepeatsNoCharge(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	calls, charges := 0, map[string]int{}
	called, killed := make(chan struct{}), make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		calls++
		charges[r.Header.Get("Idempotency-Key")]++
		first := calls == 1
		mu.Unlock()
		if first {
			close(called)
			<-killed
		}
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(provider.Close)
	s := start(t.Context(), t, "--until-idle", "--jobs", jobsFile(t, goodJob), "--parameter-overrides",
		"PaymentUrl="+provider.URL, "FunctionTimeout=2", "VisibilityTimeout=3", "MaximumConcurrency=2")
	<-called
	kill(t, s.next(local.KindStarted).PID)
	died := time.Now()
	crash := s.next(local.KindCrash)
	close(killed)
	if crash.Reason != "Runtime.ExitError" || len(crash.MessageIDs) != 1 {
		t.Errorf("crash %+v, want one of the exit with one message", crash)
	}
	summary := s.end(cli.ExitOK)
	if summary.Done != 1 || summary.Crashes != 1 || summary.Lost != 0 || summary.Left != 0 {
		t.Errorf("summary %+v, want one job done after one crash", summary)
	}
	if len(charges) != 1 || charges["ChargeQueue#ch-1"] != 2 {
		t.Errorf("calls by key %v, want two under one key", charges)
	}
	if waited := s.redelivered(crash.MessageIDs[0]).Sub(died); waited < 2*time.Second {
		t.Errorf("redelivered %v after the kill, want the visibility timeout to pass first", waited)
	}
}

// kill ends a process as the system does, on each system.
func kill(t *testing.T, id int) {
	t.Helper()
	process, err := os.FindProcess(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// redelivered returns the time at which the message was received for the second
// time.
func (s *stream) redelivered(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Kind == local.KindInvoked && e.MessageID == id && e.ReceiveCount == 2 {
			return e.Time
		}
	}
	s.t.Fatal("the message was not handed out a second time")
	return time.Time{}
}

func TestASignalStopsCleanly(t *testing.T) {
	t.Parallel()
	working, finish := make(chan struct{}), make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(working)
		<-finish
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(provider.Close)
	for name, tt := range map[string]struct {
		args []string
		code int
	}{
		"a server ends without an error": {nil, cli.ExitOK},
		"until idle was not reached":     {[]string{"--until-idle"}, cli.ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			delayed := strings.Replace(goodJob, `}}`, `},"delay":900}`, 1)
			s := start(ctx, t, slices.Concat(tt.args, []string{
				"--jobs", jobsFile(t, delayed), "PaymentUrl=" + provider.URL,
			})...)
			s.next(local.KindSent)
			cancel()
			if summary := s.end(tt.code); summary.Left != 1 {
				t.Errorf("summary %+v, want the delayed message to be left", summary)
			}
		})
	}
	t.Run("running jobs finish", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		s := start(ctx, t, "--jobs", jobsFile(t, goodJob), "PaymentUrl="+provider.URL)
		<-working
		cancel()
		close(finish)
		if summary := s.end(cli.ExitOK); summary.Done != 1 || summary.Left != 0 {
			t.Errorf("summary %+v, want the running job to be done", summary)
		}
	})
}

// TestTheTimeForTheWorkEnds has a job that is visible only in a quarter of an hour.
func TestTheTimeForTheWorkEnds(t *testing.T) {
	t.Parallel()
	delayed := strings.Replace(goodJob, `}}`, `},"delay":900}`, 1)
	s := start(t.Context(), t, "--until-idle", "--timeout", "50ms", "--jobs", jobsFile(t, delayed), "PaymentUrl=http://x")
	if summary := s.end(cli.ExitTimeout); summary.Left != 1 {
		t.Errorf("summary %+v, want one message that is left", summary)
	}
	if got := s.err.String(); got != "sqsafe: not idle after 50ms: 1 message left\n" {
		t.Errorf("standard error: %s", got)
	}
	for _, args := range [][]string{{"local", "--timeout", "1s"}, {"local", "--until-idle", "--timeout=-1s"}} {
		if code := cli.Run(t.Context(), args, cli.Streams{Out: io.Discard, Err: io.Discard}); code != cli.ExitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}

func TestEventsReportEveryStep(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusPaymentRequired)
	}))
	t.Cleanup(provider.Close)
	env := filepath.Join(t.TempDir(), "env.json")
	if err := os.WriteFile(env, []byte(`{"ChargeFunction":{"PAYMENT_URL":"`+provider.URL+`"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t.Context(), t, "--until-idle", "--env-vars", env, "--jobs", jobsFile(t, goodJob))
	summary := s.end(cli.ExitOK)
	if summary.Jobs != 1 || summary.Dead["rejected"] != 1 || summary.Attempts != 1 {
		t.Errorf("summary %+v, want one job rejected", summary)
	}
	sent := s.next(local.KindSent)
	for _, kind := range []local.Kind{local.KindInvoked, local.KindOutcome, local.KindDead, local.KindDeleted} {
		e := s.next(kind)
		if e.MessageID != sent.MessageID || e.Queue != "ChargeQueue" || e.Time.Before(sent.Time) {
			t.Errorf("%s event %+v, want it to be of message %s", kind, e, sent.MessageID)
		}
	}
	if got := s.outcomes(sent.MessageID); len(got) != 1 || got[0] != "dead" {
		t.Errorf("outcomes %v, want dead", got)
	}
	dead := s.next(local.KindDead)
	if dead.DeadLetterQueue != "ChargeDeadLetterQueue" || dead.DeadLetterID == "" || dead.Class != "permanent" {
		t.Errorf("dead event %+v", dead)
	}
}
