package runtimeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// share lets each process run several invocations at the same time.
func share(slots string, change func(*runtimeapi.Options)) func(*runtimeapi.Options) {
	return func(o *runtimeapi.Options) {
		o.Environment["AWS_LAMBDA_MAX_CONCURRENCY"] = slots
		if change != nil {
			change(o)
		}
	}
}

// outcome is the result of an invocation in the background.
type outcome struct {
	answer []byte
	err    error
}

func (h *harness) background(o order) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		answer, err := h.invoke(o)
		ended <- outcome{answer, err}
	}()
	return ended
}

// failure waits for an invocation in the background and returns its function
// error.
func failure(t *testing.T, ended <-chan outcome) *runtimeapi.FunctionError {
	t.Helper()
	o := <-ended
	e, ok := errors.AsType[*runtimeapi.FunctionError](o.err)
	if !ok {
		t.Fatalf("answer %.100s, error %v, want a FunctionError", o.answer, o.err)
	}
	return e
}

func TestProcessRunsSeveralInvocations(t *testing.T) {
	t.Parallel()
	const slots = 4
	h := start(t, "lambda", share("4", nil))
	for range 2 {
		var running []<-chan outcome
		for range slots {
			running = append(running, h.background(order{Do: "meet", Size: slots}))
		}
		ids, traces, pids := map[string]bool{}, map[string]bool{}, map[int]bool{}
		for _, ended := range running {
			o := <-ended
			var r report
			if err := json.Unmarshal(o.answer, &r); err != nil {
				t.Fatalf("answer %s, error %v", o.answer, o.err)
			}
			ids[r.RequestID], traces[r.Trace], pids[r.PID] = true, true, true
			if r.Left <= 0 || r.Left > 20*time.Second {
				t.Errorf("time left %s, want up to the timeout of 20 s", r.Left)
			}
		}
		if len(ids) != slots || len(traces) != slots || len(pids) != 1 {
			t.Errorf("%d request ids, %d traces, %d processes, want 4, 4 and 1", len(ids), len(traces), len(pids))
		}
	}
	if got := strings.Count(h.story(), "started"); got != 1 {
		t.Errorf("%d processes started, want 1", got)
	}
}

func TestProcessIsFilledBeforeAnotherIsStarted(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", share("2", func(o *runtimeapi.Options) { o.Concurrency = 2 }))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for running, processes := range []int{1, 1, 2, 2} {
		go func() { _, _ = h.Invoke(ctx, []byte(`{"do":"say and hang","text":"busy"}`)) }()
		<-h.said
		if got := strings.Count(h.story(), "started"); got != processes {
			t.Errorf("%d processes for %d invocations, want %d", got, running+1, processes)
		}
	}
	waiting, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := h.Invoke(waiting, []byte(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fifth invocation ended with %v, want it to wait", err)
	}
	if got := strings.Count(h.story(), "invoked"); got != 4 {
		t.Errorf("%d invocations, want 4", got)
	}
}

func TestTimeoutEndsAllInvocationsOfTheProcess(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", share("3", func(o *runtimeapi.Options) { o.Timeout = time.Second }))
	first := h.background(order{Do: "say and hang", Text: "first"})
	<-h.said
	h.report(order{Do: "wait", Size: 300})
	second := h.background(order{Do: "say and hang", Text: "second"})
	<-h.said
	e := failure(t, first)
	if e.Type != runtimeapi.TypeTimeout || !e.Killed || !e.Exited {
		t.Errorf("first: %+v, want a timeout with the end of the process", e)
	}
	e = failure(t, second)
	want := &runtimeapi.FunctionError{
		Type: runtimeapi.TypeExit, Message: "RequestId: " + e.RequestID + " Error: Runtime exited with error: signal: killed",
		RequestID: e.RequestID, Exited: true, ExitCode: -1, Signal: "killed", Killed: true,
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("second (-want +got):\n%s", diff)
	}
	if h.report(order{Text: "next"}).Text != "next" {
		t.Error("no fresh process after the timeout")
	}
}

func TestExitEndsAllInvocationsOfTheProcess(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]order{
		"exit":                       {Do: "exit", Size: 7},
		"panic in another goroutine": {Do: "panic elsewhere", Text: "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "lambda", share("2", nil))
			bystander := h.background(order{Do: "say and hang", Text: "busy"})
			<-h.said
			own := h.fail(end)
			other := failure(t, bystander)
			for _, e := range []*runtimeapi.FunctionError{own, other} {
				if e.Type != runtimeapi.TypeExit || !e.Exited || e.Killed || e.ExitCode < 2 {
					t.Errorf("error %+v, want the process's exit", e)
				}
			}
			if own.RequestID == other.RequestID || !strings.Contains(other.Message, other.RequestID) {
				t.Errorf("request ids %s and %s in %q", own.RequestID, other.RequestID, other.Message)
			}
			if h.report(order{Text: "next"}).Text != "next" {
				t.Error("no fresh process after the exit")
			}
		})
	}
}

func TestErrorEndsOnlyItsOwnInvocation(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]order{
		"error": {Do: "fail", Text: "declined"},
		"panic": {Do: "panic", Text: "declined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener := listen(t)
			h := start(t, "lambda", share("2", nil))
			bystander := h.background(order{Do: "hold", Text: listener.Addr().String()})
			hold := accept(t, listener)
			if e := h.fail(bad); e.Message != "declined" || e.Exited {
				t.Errorf("error %+v, want declined from a living process", e)
			}
			if err := hold.Close(); err != nil {
				t.Fatal(err)
			}
			if o := <-bystander; o.err != nil || len(o.answer) == 0 {
				t.Errorf("the other invocation: answer %s, error %v", o.answer, o.err)
			}
			if bad.Do == "panic" {
				<-h.exits // the process exits after the other invocation is done
			}
			if h.report(order{Text: "next"}).Text != "next" {
				t.Error("no answer after the error")
			}
		})
	}
}

// TestPanicDoesNotShortenOtherInvocations checks that a process that has reported a
// panic and requests no more events stays alive while it runs other
// invocations.
func TestPanicDoesNotShortenOtherInvocations(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", share("3", func(o *runtimeapi.Options) { o.Timeout = 1500 * time.Millisecond }))
	h.report(order{}) // so that the start of the process does not use up the timeout
	bad := h.background(order{Do: "wait and panic", Size: 900, Text: "declined"})
	h.report(order{Do: "wait", Size: 500})
	other := h.background(order{Do: "wait", Size: 1200}) // ends after the timeout of the first invocation
	if e := failure(t, bad); e.Message != "declined" || e.Exited {
		t.Errorf("error %+v, want declined from a living process", e)
	}
	if o := <-other; o.err != nil {
		t.Errorf("the other invocation: %v", o.err)
	}
}

// TestTimeoutBeginsWhenTheProcessTakesTheEvent covers a process that takes
// fewer events at a time than it is allowed.
func TestTimeoutBeginsWhenTheProcessTakesTheEvent(t *testing.T) {
	t.Parallel()
	h := start(t, "one by one", share("2", func(o *runtimeapi.Options) { o.Timeout = time.Second }))
	first := h.background(order{})
	<-h.said
	second := h.background(order{}) // ends in 1.2 s
	for _, ended := range []<-chan outcome{first, second} {
		if o := <-ended; o.err != nil {
			t.Errorf("answer %s, error %v", o.answer, o.err)
		}
	}
}

func TestFailedStartEndsAllInvocationsThatWaitForIt(t *testing.T) {
	t.Parallel()
	h := start(t, "waits and exits", share("2", nil))
	first := h.background(order{})
	<-h.said
	second := h.background(order{})
	if _, err := h.Invoke(ended(t), []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	for _, e := range []*runtimeapi.FunctionError{failure(t, first), failure(t, second)} {
		if e.Type != runtimeapi.TypeExit || e.ExitCode != 3 || !strings.Contains(e.Message, e.RequestID) {
			t.Errorf("error %+v, want the exit before the first event", e)
		}
	}
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestInvocationHasTheHeadersOfLambda(t *testing.T) {
	t.Parallel()
	h := start(t, "headers", func(o *runtimeapi.Options) { o.Timeout = 9 * time.Second })
	before := time.Now().Add(9 * time.Second).UnixMilli()
	answer, err := h.Invoke(t.Context(), []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	after := time.Now().Add(9 * time.Second).UnixMilli()
	var got struct {
		Arn      string `json:"Lambda-Runtime-Invoked-Function-Arn"`
		ID       string `json:"Lambda-Runtime-Aws-Request-Id"`
		Deadline int64  `json:"Lambda-Runtime-Deadline-Ms,string"`
		Trace    string `json:"Lambda-Runtime-Trace-Id"`
		Type     string `json:"Content-Type"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if got.Deadline < before || got.Deadline > after {
		t.Errorf("deadline %d, want %d to %d", got.Deadline, before, after)
	}
	if len(got.ID) != 36 || got.Arn != "arn:aws:lambda:us-east-1:000000000000:function:charge" ||
		!strings.HasPrefix(got.Trace, "Root=1-") || got.Type != "application/json" {
		t.Errorf("headers %+v", got)
	}
}
