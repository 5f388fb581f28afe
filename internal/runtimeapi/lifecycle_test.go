package runtimeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

func TestInitFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		program string
		limit   time.Duration
		want    runtimeapi.FunctionError
		story   string
	}{
		"exit before the first event": {
			program: "exits",
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeExit, Exited: true, ExitCode: 3,
				Message: "RequestId: ID Error: Runtime exited with error: exit status 3"},
			story: "started exited failed",
		},
		"end before the first event": {
			program: "ends",
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeExit, Exited: true,
				Message: "RequestId: ID Error: Runtime exited without providing a reason"},
			story: "started exited failed",
		},
		"reported": {
			program: "reports init",
			want: runtimeapi.FunctionError{Type: "Config", Message: "PAYMENT_URL is not set",
				Exited: true, ExitCode: -1, Signal: "killed", Killed: true},
			story: "started killed failed",
		},
		"timeout": {
			program: "hangs",
			limit:   200 * time.Millisecond,
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeTimeout, Exited: true, ExitCode: -1,
				Signal: "killed", Killed: true, Message: "RequestId: ID Error: Init timed out after 0.20 seconds: " +
					"the process did not ask for its first event"},
			story: "started killed failed",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, test.program, func(o *runtimeapi.Options) {
				if test.limit > 0 {
					o.InitTimeout = test.limit
				}
			})
			got := h.fail(order{})
			got.Message = strings.ReplaceAll(got.Message, got.RequestID, "ID")
			test.want.Starting = true
			if diff := cmp.Diff(&test.want, got, cmpopts.IgnoreFields(*got, "RequestID")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got := h.story(); got != test.story {
				t.Errorf("observed %s, want %s", got, test.story)
			}
		})
	}
}

func TestBinaryThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	h := start(t, "lambda", func(o *runtimeapi.Options) { o.Binary = binary })
	e := h.fail(order{})
	if e.Type != runtimeapi.TypeEntrypoint || e.Exited {
		t.Errorf("error %+v, want type %s", e, runtimeapi.TypeEntrypoint)
	}
	for _, part := range []string{binary, "no such file"} {
		if !strings.Contains(e.Message, part) {
			t.Errorf("message %q does not name %s", e.Message, part)
		}
	}
	if h.story() != "failed" {
		t.Errorf("observed %s, want failed", h.story())
	}
}

func TestCloseEndsProcesses(t *testing.T) {
	t.Parallel()
	const long = 20 * time.Second
	tests := map[string]struct {
		program string
		grace   time.Duration
		story   string
		status  string
		output  string
	}{
		"asked":             {"signalled", long, "started invoked answered exited", "exit status 0", "asked to end"},
		"ended by signal":   {"lambda", long, "started invoked answered exited", "signal: terminated", ""},
		"kill after 100 ms": {"no SIGTERM", 100 * time.Millisecond, "started invoked answered killed", "signal: killed", ""},
		"kill after 500 ms": {"no SIGTERM", 0, "started invoked answered killed", "signal: killed", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, test.program, func(o *runtimeapi.Options) { o.Grace = test.grace })
			h.report(order{})
			if err := h.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := h.story(); got != test.story {
				t.Errorf("observed %s, want %s", got, test.story)
			}
			if got := h.events[len(h.events)-1].Status; got != test.status {
				t.Errorf("status %q, want %q", got, test.status)
			}
			if got := h.output(); got != test.output {
				t.Errorf("output %q, want %q", got, test.output)
			}
			if _, err := h.Invoke(t.Context(), nil); !errors.Is(err, runtimeapi.ErrClosed) {
				t.Errorf("Invoke after Close: %v, want ErrClosed", err)
			}
		})
	}
}

// TestDefaultGraceIs500Milliseconds checks that a process has 500 ms between the signals.
func TestDefaultGraceIs500Milliseconds(t *testing.T) {
	t.Parallel()
	ignoring, busy := start(t, "no SIGTERM", nil), start(t, "slow to end", nil)
	ignoring.report(order{})
	busy.report(order{})
	asked := time.Now()
	if err := ignoring.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(asked); took < 500*time.Millisecond {
		t.Errorf("killed after %s, want 500 ms", took)
	}
	if err := busy.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := busy.output(); got != "asked to end\nended" {
		t.Errorf("output %q, want the end of the work after the signal", got)
	}
}

func TestCloseWithEndedContextKillsAtOnce(t *testing.T) {
	t.Parallel()
	h := start(t, "no SIGTERM", func(o *runtimeapi.Options) { o.Grace = time.Hour })
	h.report(order{})
	cause := errors.New("second signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := h.Close(ctx); !errors.Is(err, cause) {
		t.Errorf("Close: %v, want the context's cause", err)
	}
	if got, want := h.story(), "started invoked answered killed"; got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
}

func TestCloseDuringAnInvocation(t *testing.T) {
	t.Parallel()
	h := start(t, "no SIGTERM", nil)
	failed := make(chan error)
	go func() {
		_, err := h.invoke(order{Do: "say and hang", Text: "busy"})
		failed <- err
	}()
	<-h.said
	waiting := make(chan error)
	go func() {
		_, err := h.Invoke(t.Context(), []byte(`{}`))
		waiting <- err
	}()
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := <-failed
	e, ok := errors.AsType[*runtimeapi.FunctionError](err)
	if !ok || e.Type != runtimeapi.TypeExit || !e.Killed || e.Signal != "killed" {
		t.Errorf("running invocation: %v, want a killed process", err)
	}
	if err := <-waiting; !errors.Is(err, runtimeapi.ErrClosed) {
		t.Errorf("waiting invocation: %v, want ErrClosed", err)
	}
}

func TestOutputIsSplitIntoLines(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	tests := map[string]struct {
		text string
		want []string
	}{
		"lines":            {"one\ntwo\r\n\nfour\n", []string{"one", "two", "", "four"}},
		"without line end": {"one\ntwo", []string{"one", "two"}},
		"longest line":     {strings.Repeat("x", limit) + "\n", []string{strings.Repeat("x", limit)}},
		"cut": {strings.Repeat("x", limit+5) + "\nshort\n", []string{
			strings.Repeat("x", limit) + "… (line cut after 1048576 bytes, 5 bytes left out)", "short"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "lambda", nil)
			h.report(order{Do: "say", Text: test.text})
			if err := h.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, h.lines); diff != "" {
				t.Errorf("lines (-want +got):\n%.2000s", diff)
			}
		})
	}
}

func TestRuntimeAPIRefusesInvalidRequests(t *testing.T) {
	t.Parallel()
	const report = `{"errorType":"X","errorMessage":"m"}`
	tests := map[string]struct {
		request request
		status  int
		code    string
	}{
		"response to an unknown request": {
			request{"POST", invocationPath + "nobody/response", "{}", nil}, 400, "InvalidRequestID"},
		"error of an unknown request": {
			request{"POST", invocationPath + "nobody/error", report, nil}, 400, "InvalidRequestID"},
		"late response": {
			request{"POST", invocationPath + "{previous}/response", "{}", nil}, 400, "InvalidRequestID"},
		"next before the answer": {request{"GET", invocationPath + "next", "", nil}, 403, "InvalidStateTransition"},
		"init error after init": {
			request{"POST", "/2018-06-01/runtime/init/error", report, nil}, 403, "InvalidStateTransition"},
		"unknown path": {
			request{"GET", "/2018-06-01/runtime/nothing", "", nil}, 404, "no GET /2018-06-01/runtime/nothing"},
		"unknown method": {request{"POST", invocationPath + "next", "", nil}, 404, "no POST " + invocationPath + "next"},
		"unnamed extension": {
			request{"POST", "/2020-01-01/extension/register", "{}", nil}, 403, "Extension.InvalidExtensionName"},
		"unknown extension": {
			request{"GET", "/2020-01-01/extension/event/next", "", []string{"Lambda-Extension-Identifier", "x"}},
			403, "Extension.UnknownExtensionIdentifier"},
	}
	h := start(t, "conversation", nil)
	if _, err := h.invoke([]request{}); err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := h.invoke([]request{test.request})
			if err != nil {
				t.Fatal(err)
			}
			var replies []reply
			if err := json.Unmarshal(answer, &replies); err != nil || len(replies) != 2 {
				t.Fatalf("answer %s: %v", answer, err)
			}
			if replies[0].Status != 200 || replies[0].Body == "" {
				t.Errorf("extension registered with %+v, want 200 and an identifier", replies[0])
			}
			if got := replies[1]; got.Status != test.status || !strings.Contains(got.Body, test.code) {
				t.Errorf("got %+v, want %d with %s", got, test.status, test.code)
			}
		})
	}
}

func TestErrorReportsAreParsed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body   string
		header []string
		want   runtimeapi.FunctionError
	}{
		"full": {
			body: `{"errorType":"T","errorMessage":"m","stackTrace":[{"path":"p.go","line":3,"label":"f"}]}`,
			want: runtimeapi.FunctionError{Type: "T", Message: "m",
				Stack: []runtimeapi.Frame{{Path: "p.go", Line: 3, Label: "f"}}},
		},
		"stack of text": {
			body: `{"errorType":"T","errorMessage":"m","stackTrace":["at f"]}`,
			want: runtimeapi.FunctionError{Type: "T", Message: "m"},
		},
		"type in the header": {
			body:   `{"errorMessage":"m"}`,
			header: []string{"Lambda-Runtime-Function-Error-Type", "H"},
			want:   runtimeapi.FunctionError{Type: "H", Message: "m"},
		},
		"not JSON": {
			body: "out of\npaper",
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeUnknown,
				Message: "error report without errorMessage: out of\npaper"},
		},
		"empty": {
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeUnknown, Message: "error report without errorMessage: "},
		},
		"long": {
			body: strings.Repeat("€", 100),
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeUnknown,
				Message: "error report without errorMessage: " + strings.Repeat("€", 85) + "…"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "conversation", nil)
			_, err := h.invoke([]request{{"POST", invocationPath + "{id}/error", test.body, test.header}})
			got, ok := errors.AsType[*runtimeapi.FunctionError](err)
			if !ok {
				t.Fatalf("error %v, want a FunctionError", err)
			}
			if diff := cmp.Diff(&test.want, got, cmpopts.IgnoreFields(*got, "RequestID")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if second := <-h.said; second != "answer: 403" {
				t.Errorf("a second answer got %q, want 403", second)
			}
		})
	}
}

func TestProcessEndsWithItsParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends children with their parent")
	}
	listener := listen(t)
	parent := exec.Command(os.Args[0])
	parent.Env = []string{programVariable + "=hosts", "ADDRESS=" + listener.Addr().String()}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := accept(t, listener)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it ends with an error: it was killed
	awaitEnd(t, child)
}

func TestNewRefusesInvalidOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options runtimeapi.Options
		want    string
	}{
		"name":         {runtimeapi.Options{Binary: "b"}, "function without a name: set Name"},
		"binary":       {runtimeapi.Options{Name: "f"}, "function f has no binary: set Binary to the built file"},
		"timeout":      {runtimeapi.Options{Timeout: -1}, "timeout -1ns is negative"},
		"init timeout": {runtimeapi.Options{InitTimeout: -1}, "init timeout -1ns is negative"},
		"grace":        {runtimeapi.Options{Grace: -1}, "grace -1ns is negative"},
		"memory":       {runtimeapi.Options{MemoryMB: -1}, "memory of -1 MB is negative"},
		"concurrency":  {runtimeapi.Options{Concurrency: -1}, "concurrency -1 is negative"},
		"no slot": {runtimeapi.Options{Environment: map[string]string{"AWS_LAMBDA_MAX_CONCURRENCY": "0"}},
			`function f: AWS_LAMBDA_MAX_CONCURRENCY is "0": write a whole number from 1 to 10000, or leave it out`},
		"not a number": {runtimeapi.Options{Environment: map[string]string{"AWS_LAMBDA_MAX_CONCURRENCY": "two"}},
			`AWS_LAMBDA_MAX_CONCURRENCY is "two"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o := &test.options; o.Name == "" && o.Binary == "" {
				o.Name, o.Binary = "f", "b"
			}
			if _, err := runtimeapi.New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
