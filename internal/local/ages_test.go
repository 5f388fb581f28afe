package local

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

func TestAgesFollowTheMessages(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(s int, kind sqs.Kind, queue, id string) sqs.Event {
		return sqs.Event{Time: start.Add(time.Duration(s) * time.Second), Kind: kind, Queue: queue, MessageID: id, To: "dead"}
	}
	var a ages
	for _, e := range []sqs.Event{
		at(0, sqs.Sent, "jobs", "done"), at(1, sqs.Sent, "jobs", "poison"),
		at(3, sqs.Sent, "jobs", "third"), at(2, sqs.Sent, "jobs", "second"),
		at(4, sqs.Received, "jobs", "done"), at(4, sqs.VisibilityChanged, "jobs", "done"),
		at(5, sqs.Deleted, "jobs", "done"), at(6, sqs.Redriven, "jobs", "poison"),
		at(0, sqs.Sent, "empty", "x"), at(1, sqs.Deleted, "empty", "x"), at(2, sqs.Deleted, "unknown", "x"),
	} {
		a.record(e)
	}
	server := httptest.NewServer(&a)
	t.Cleanup(server.Close)
	got, err := Ages(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Age{
		"jobs": {Messages: 2, Oldest: start.Add(2 * time.Second)},
		"dead": {Messages: 1, Oldest: start.Add(6 * time.Second)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ages (-want +got):\n%s", diff)
	}
}

func TestAnotherEngineHasNoAges(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	if _, err := Ages(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), "HTTP 404") {
		t.Errorf("error %v, want HTTP 404", err)
	}
	server.Close()
	if _, err := Ages(t.Context(), server.URL); err == nil {
		t.Error("no error although nothing listens")
	}
	if _, err := Ages(t.Context(), "::"); err == nil {
		t.Error("no error for what is no URL")
	}
}
