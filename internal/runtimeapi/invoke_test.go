package runtimeapi_test

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

func TestOneProcessServesSeveralInvocations(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	first := h.report(order{Text: "a"})
	second := h.report(order{Text: "b"})
	if first.Text != "a" || second.Text != "b" {
		t.Errorf("answers %q and %q, want a and b", first.Text, second.Text)
	}
	if first.PID != second.PID {
		t.Errorf("processes %d and %d, want the same one", first.PID, second.PID)
	}
	if first.RequestID == second.RequestID || first.RequestID == "" {
		t.Errorf("request ids %q and %q, want two", first.RequestID, second.RequestID)
	}
	if got, want := h.story(), "started invoked answered invoked answered"; got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
}

func TestFunctionSeesWhatLambdaSets(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	h := start(t, "lambda", func(o *runtimeapi.Options) {
		o.Directory, o.Region, o.Account, o.MemoryMB = directory, "eu-west-1", "123456789012", 512
		o.Environment["PAYMENT_URL"] = "http://127.0.0.1:9"
		o.Environment["AWS_ACCESS_KEY_ID"] = "given"
		o.Environment["AWS_LAMBDA_RUNTIME_API"] = "elsewhere:1"
	})
	r := h.report(order{})
	if want := "arn:aws:lambda:eu-west-1:123456789012:function:charge"; r.ARN != want {
		t.Errorf("ARN %s, want %s", r.ARN, want)
	}
	if r.Left <= 0 || r.Left > 20*time.Second {
		t.Errorf("time left %s, want up to the timeout of 20 s", r.Left)
	}
	if !regexp.MustCompile(`^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0$`).MatchString(r.Trace) {
		t.Errorf("trace id %q", r.Trace)
	}
	if got, _ := filepath.EvalSymlinks(r.Directory); got != mustEval(t, directory) {
		t.Errorf("working directory %s, want %s", r.Directory, directory)
	}
	want := map[string]string{
		"AWS_ACCESS_KEY_ID":               "given",
		"AWS_DEFAULT_REGION":              "eu-west-1",
		"AWS_EXECUTION_ENV":               "AWS_Lambda_provided.al2023",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
		"AWS_LAMBDA_FUNCTION_NAME":        "charge",
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/charge",
		"AWS_LAMBDA_LOG_STREAM_NAME":      "local",
		"AWS_REGION":                      "eu-west-1",
		"AWS_SECRET_ACCESS_KEY":           "local",
		"LAMBDA_TASK_ROOT":                directory,
		"LANG":                            "en_US.UTF-8",
		"PATH":                            "/usr/local/bin:/usr/bin:/bin",
		"PAYMENT_URL":                     "http://127.0.0.1:9",
		"TZ":                              ":UTC",
		"_HANDLER":                        "bootstrap",
		programVariable:                   "lambda",
	}
	got := map[string]string{}
	for _, pair := range r.Variables {
		name, value, _ := strings.Cut(pair, "=")
		got[name] = value
	}
	varying := []string{"AWS_LAMBDA_RUNTIME_API", "GOCOVERDIR", "GORACE", "HOME", "TMPDIR", "_X_AMZN_TRACE_ID"}
	machine := cmpopts.IgnoreMapEntries(func(name, _ string) bool { return slices.Contains(varying, name) })
	if diff := cmp.Diff(want, got, machine); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func mustEval(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFailuresAreFunctionErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		order order
		want  runtimeapi.FunctionError
		story string
	}{
		"returned error keeps the process": {
			order: order{Do: "fail", Text: "no such customer"},
			want:  runtimeapi.FunctionError{Type: "errorString", Message: "no such customer"},
			story: "started invoked failed invoked answered",
		},
		"panic": {
			order: order{Do: "panic", Text: "index out of range"},
			want:  runtimeapi.FunctionError{Type: "string", Message: "index out of range", Exited: true, ExitCode: 1},
			story: "started invoked exited failed started invoked answered",
		},
		"panic in another goroutine": {
			order: order{Do: "panic elsewhere", Text: "lost"},
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeExit, Exited: true, ExitCode: 2,
				Message: "RequestId: ID Error: Runtime exited with error: exit status 2"},
			story: "started invoked exited failed started invoked answered",
		},
		"exit": {
			order: order{Do: "exit", Size: 7},
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeExit, Exited: true, ExitCode: 7,
				Message: "RequestId: ID Error: Runtime exited with error: exit status 7"},
			story: "started invoked exited failed started invoked answered",
		},
		"exit without a reason": {
			order: order{Do: "exit"},
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeExit, Exited: true,
				Message: "RequestId: ID Error: Runtime exited without providing a reason"},
			story: "started invoked exited failed started invoked answered",
		},
		"response that ends early": {
			order: order{Do: "stream and fail", Text: "disk is gone"},
			want:  runtimeapi.FunctionError{Type: "errorString", Message: "disk is gone"},
			story: "started invoked failed invoked answered",
		},
		"response over the limit": {
			order: order{Do: "write", Size: 6<<20 + 99},
			want: runtimeapi.FunctionError{Type: runtimeapi.TypeResponseSize, Exited: true, ExitCode: 1,
				Message: "Response payload size (6291557 bytes) exceeded maximum allowed payload size (6291556 bytes)."},
			story: "started invoked exited failed started invoked answered",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, "lambda", nil)
			got := h.fail(test.order)
			got.Message = strings.ReplaceAll(got.Message, got.RequestID, "ID")
			if diff := cmp.Diff(&test.want, got, cmpopts.IgnoreFields(*got, "RequestID", "Stack")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if r := h.report(order{Text: "next"}); r.Text != "next" {
				t.Errorf("the next invocation answered %q", r.Text)
			}
			if got := h.story(); got != test.story {
				t.Errorf("observed %s\n    want %s", got, test.story)
			}
		})
	}
}

func TestPanicCarriesItsStack(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	e := h.fail(order{Do: "panic", Text: "boom"})
	if !slices.ContainsFunc(e.Stack, func(f runtimeapi.Frame) bool { return f.Label == "work" && f.Line > 0 }) {
		t.Errorf("stack %+v, want a frame of work", e.Stack)
	}
}

func TestLargestResponseIsReturned(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	answer, err := h.invoke(order{Do: "write", Size: 6<<20 + 98})
	if err != nil || len(answer) != 6<<20+100 {
		t.Errorf("%d bytes, error %v, want %d bytes", len(answer), err, 6<<20+100)
	}
}

func TestEventOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	_, err := h.Invoke(t.Context(), make([]byte, 6<<20+1))
	want := "event of 6291457 bytes for function charge: Lambda takes at most 6291456"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if h.story() != "" {
		t.Errorf("observed %s, want nothing", h.story())
	}
}

func TestTimeoutKillsTheProcess(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", func(o *runtimeapi.Options) { o.Timeout = 300 * time.Millisecond })
	e := h.fail(order{Do: "say and hang", Text: "working"})
	want := &runtimeapi.FunctionError{
		Type: runtimeapi.TypeTimeout, Message: "RequestId: " + e.RequestID + " Error: Task timed out after 0.30 seconds",
		RequestID: e.RequestID, Exited: true, ExitCode: -1, Signal: "killed", Killed: true,
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if h.report(order{Text: "next"}).Text != "next" {
		t.Error("no fresh process after the timeout")
	}
	if got, want := h.story(), "started invoked killed failed started invoked answered"; got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
}

func TestResponseIsReturnedThoughTheProcessHangsAfterIt(t *testing.T) {
	t.Parallel()
	h := start(t, "never asks on", func(o *runtimeapi.Options) { o.Timeout = 300 * time.Millisecond })
	for range 2 {
		if answer, err := h.invoke(order{}); err != nil || string(answer) != `"done"` {
			t.Fatalf("answer %s, error %v", answer, err)
		}
	}
	if got, want := h.story(), "started invoked answered killed started invoked answered"; got != want {
		t.Errorf("observed %s, want %s", got, want)
	}
}

func TestProcessThatStopsPollingTimesOut(t *testing.T) {
	t.Parallel()
	h := start(t, "stops asking", func(o *runtimeapi.Options) { o.Timeout = 300 * time.Millisecond })
	if _, err := h.invoke(order{}); err != nil {
		t.Fatal(err)
	}
	<-h.said
	if e := h.fail(order{}); e.Type != runtimeapi.TypeTimeout || !e.Killed {
		t.Errorf("error %+v, want a timeout", e)
	}
	if _, err := h.invoke(order{}); err != nil {
		t.Errorf("no fresh process after the timeout: %v", err)
	}
}

func TestProcessKilledFromOutsideFailsItsInvocationAtOnce(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", func(o *runtimeapi.Options) { o.Timeout = 15 * time.Minute })
	pid := h.report(order{}).PID
	failed := make(chan error)
	go func() {
		_, err := h.invoke(order{Do: "say and hang", Text: "in the middle"})
		failed <- err
	}()
	<-h.said
	killNow(t, pid)
	e, ok := errors.AsType[*runtimeapi.FunctionError](<-failed)
	if !ok {
		t.Fatal("the invocation did not fail")
	}
	want := &runtimeapi.FunctionError{
		Type: runtimeapi.TypeExit, Message: "RequestId: " + e.RequestID + " Error: Runtime exited with error: signal: killed",
		RequestID: e.RequestID, Exited: true, ExitCode: -1, Signal: "killed",
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if h.report(order{}).PID == pid {
		t.Error("the next invocation went to the dead process")
	}
}

func TestProcessKilledWhileIdleIsReplaced(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	pid := h.report(order{}).PID
	killNow(t, pid)
	<-h.exits
	if next := h.report(order{Text: "next"}); next.Text != "next" || next.PID == pid {
		t.Errorf("got %+v, want an answer of a new process", next)
	}
}

func TestConcurrencyBoundsProcesses(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", func(o *runtimeapi.Options) { o.Concurrency = 2 })
	ctx, cancel := context.WithCancelCause(t.Context())
	busy := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := h.Invoke(ctx, []byte(`{"do":"say and hang","text":"busy"}`))
			busy <- err
		}()
	}
	<-h.said
	<-h.said
	waiting, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := h.Invoke(waiting, []byte(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third invocation ended with %v, want it to wait", err)
	}
	cause := errors.New("caller gave up")
	cancel(cause)
	for range 2 {
		if err := <-busy; !errors.Is(err, cause) {
			t.Errorf("error %v, want the context's cause", err)
		}
	}
	if got := strings.Count(h.story(), "started"); got != 2 {
		t.Errorf("%d processes started, want 2", got)
	}
}

func TestInvokeWithEndedContextStartsNothing(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Invoke(ctx, []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if h.story() != "" {
		t.Errorf("observed %s, want nothing", h.story())
	}
}

func TestTheLineageIsInTheTrace(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	answer, err := h.Invoke(runtimeapi.WithLineage(t.Context(), "a87bd80c:3"), []byte(`{}`))
	if err != nil || !strings.Contains(string(answer), ";Sampled=0;Lineage=a87bd80c:3\"") {
		t.Errorf("answer %s, error %v", answer, err)
	}
}

func TestChildrenOfTheProcessAreKilledWithIt(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	h := start(t, "lambda", nil)
	if _, err := h.invoke(order{Do: "leave a child", Text: listener.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	child := accept(t, listener)
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, child)
}

func TestZeroOptionsAreLambdasDefaults(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", func(o *runtimeapi.Options) {
		o.Directory, o.Timeout, o.InitTimeout, o.Output, o.Observe = "", 0, 0, nil, nil
	})
	r := h.report(order{Do: "say", Text: "unheard\n"})
	if r.Left <= 0 || r.Left > 3*time.Second {
		t.Errorf("time left %s, want up to 3 s", r.Left)
	}
	if want := "arn:aws:lambda:us-east-1:000000000000:function:charge"; r.ARN != want {
		t.Errorf("ARN %s, want %s", r.ARN, want)
	}
	if !slices.Contains(r.Variables, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=128") {
		t.Errorf("variables %q, want 128 MB", r.Variables)
	}
}
