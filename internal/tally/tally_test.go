package tally_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/tally"
)

func TestCallsBytesAndConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	var counted tally.Tally
	server := httptest.NewUnstartedServer(counted.Handler(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })))
	server.Listener = counted.Listener(server.Listener)
	server.Start()
	t.Cleanup(server.Close)
	send := func(name, body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+name)
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	send("PutItem", "")
	send("UpdateItem", "")
	before := counted.Read()
	send("UpdateItem", strings.Repeat("x", 1000))
	after := counted.Read()
	want := map[string]int{"PutItem": 1, "UpdateItem": 2}
	if diff := cmp.Diff(want, after.Calls); diff != "" || before.Calls["UpdateItem"] != 1 {
		t.Errorf("calls (-want +got):\n%s, and before the last one %v", diff, before.Calls)
	}
	if grown := after.Bytes - before.Bytes; grown < 1000 || grown > 1500 || after.Connections != 1 {
		t.Errorf("%d bytes for a body of 1,000, and %d connections", grown, after.Connections)
	}
	counted.Reset()
	if diff := cmp.Diff(tally.Count{}, counted.Read()); diff != "" {
		t.Errorf("after the reset (-want +got):\n%s", diff)
	}
}

func TestCallsOfAClientWithoutAServerAreCounted(t *testing.T) {
	t.Parallel()
	var counted tally.Tally
	answers := roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.EOF })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessageBatch")
	answer, err := counted.Transport(answers).RoundTrip(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	diff := cmp.Diff(map[string]int{"SendMessageBatch": 1}, counted.Read().Calls)
	if diff != "" || !errors.Is(err, io.EOF) {
		t.Errorf("calls (-want +got):\n%s, and the error %v of the transport behind it", diff, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
