package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Lambda sends SIGTERM before it ends a process only to functions that have registered an
// extension, and a function that does nothing about it exits by itself.
func TestTheBuiltFunctionAsksForSIGTERMAndEndsByIt(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	registered, polled := make(chan struct{}), make(chan struct{})
	over := make(chan struct{})
	api := http.NewServeMux()
	api.HandleFunc("POST /2020-01-01/extension/register", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Lambda-Extension-Identifier", "1")
		close(registered)
	})
	api.HandleFunc("GET /2020-01-01/extension/event/next", func(http.ResponseWriter, *http.Request) { <-over })
	api.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(http.ResponseWriter, *http.Request) {
		close(polled)
		<-over
	})
	server := httptest.NewServer(api)
	defer server.Close()
	defer close(over)

	function := exec.CommandContext(t.Context(), binary)
	function.Env = append(os.Environ(),
		"AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(server.URL, "http://"), "PAYMENT_URL="+server.URL,
		"AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret",
		"SQSAFE_TABLE=ledger", "SQSAFE_DLQ_URL="+server.URL+"/1/dead", "SQSAFE_MAX_RECEIVES=30",
	)
	if err := function.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- function.Wait() }()
	for name, happens := range map[string]chan struct{}{"registration": registered, "poll": polled} {
		select {
		case <-happens:
		case err := <-ended:
			t.Fatalf("the function ended before its %s: %v", name, err)
		case <-time.After(time.Minute):
			t.Fatalf("no %s within a minute", name)
		}
	}
	if err := function.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the function goes on a minute after SIGTERM")
	}
}
