package runtimeapi_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// piped starts a program with a pipe for reports, whose lines are there when it is closed.
func piped(t *testing.T) (*harness, *[]string) {
	t.Helper()
	var lines []string // of the only process
	return start(t, "lambda", func(o *runtimeapi.Options) {
		o.ReportVariable, o.Report = reportVariable, func(line string) { lines = append(lines, line) }
	}), &lines
}

func TestReportsComeBesideTheOutput(t *testing.T) {
	t.Parallel()
	h, lines := piped(t)
	for _, o := range []order{
		{Do: "report", Text: "one\ntwo\nthr"}, {Do: "say", Text: "one\n"}, {Do: "report", Text: "ee"},
	} {
		if _, err := h.invoke(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, *lines); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"one"}, h.lines); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestAPipeThatAChildKeepsOpenIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	h, lines := piped(t)
	for _, o := range []order{{Do: "report", Text: "last\n"}, {Do: "leave a child", Text: listener.Addr().String()}} {
		if _, err := h.invoke(o); err != nil {
			t.Fatal(err)
		}
	}
	child := accept(t, listener)
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"last"}, *lines); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	awaitEnd(t, child)
}

func TestWithoutAListenerThereIsNoPipe(t *testing.T) {
	t.Parallel()
	h := start(t, "lambda", nil)
	if _, err := h.invoke(order{Do: "report", Text: "x"}); err == nil {
		t.Error("the program found a pipe")
	}
}
