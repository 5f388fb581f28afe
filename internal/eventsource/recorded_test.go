package eventsource_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/internal/eventsource"
)

// The facts of this file are not documented. They are those that recordings of
// AWS Lambda's answers show.

// A record without message attributes has a digest of null if the mapping has a
// batching window, and none if it has no window.
func TestDigestOfARecordWithoutAttributes(t *testing.T) {
	t.Parallel()
	for window, want := range map[time.Duration]bool{0: false, time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			var event string
			m := mapping()
			m.Window = window
			run(t, m, newQueue(at(0, 1, 1)...), func(_ context.Context, e []byte) ([]byte, error) {
				event = string(e)
				return nil, nil
			}, 5*time.Second)
			if got := strings.Contains(event, `"md5OfMessageAttributes":null,"md5OfBody"`); got != want || event == "" {
				t.Errorf("window %s: %s", window, event)
			}
			if strings.Contains(event, "md5OfMessageAttributes") != want {
				t.Errorf("window %s: a digest of another form in %s", window, event)
			}
		})
	}
}

// Of two messages the mapping delivers the first and deletes the other.
func TestRecordedFilters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ pattern, matching, other string }{
		"one value":      {`{"body":{"my-key":["my-value"]}}`, `{"my-key":"my-value"}`, `{"my-key":"other-value"}`},
		"either value":   {`{"body":{"my-key":["one","two"]}}`, `{"my-key":"two"}`, `{"my-key":"other-value"}`},
		"two members":    {`{"body":{"a":["x","one"],"b":["two"]}}`, `{"a":"one","b":"two"}`, `{"a":"other-","b":"two"}`},
		"exists":         {`{"body":{"my-key":[{"exists":true}]}}`, `{"my-key":"any"}`, `{"other-key":"any"}`},
		"more than":      {`{"body":{"n":[{"numeric":[">",100]}]}}`, `{"n":101}`, `{"n":100}`},
		"less than":      {`{"body":{"n":[{"numeric":["<",100]}]}}`, `{"n":99}`, `{"n":100}`},
		"range":          {`{"body":{"n":[{"numeric":[">=",100,"<",200]}]}}`, `{"n":100}`, `{"n":200}`},
		"prefix":         {`{"body":{"my-key":[{"prefix":"yes"}]}}`, `{"my-key":"yes-value"}`, `{"my-key":"no-value"}`},
		"text, not JSON": {`{"body":{"my-key":["my-value"]}}`, `{"my-key":"my-value"}`, `plain-string`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				m := mapping()
				m.Filters = []string{tt.pattern}
				q := newQueue(arrival{msg: message("1", tt.other)}, arrival{msg: message("2", tt.matching)})
				seen := run(t, m, q, func(_ context.Context, e []byte) ([]byte, error) {
					for _, r := range records(t, e) {
						bodies = append(bodies, r.Body)
					}
					return nil, nil
				}, time.Second)
				if got := strings.Join(bodies, " "); got != tt.matching {
					t.Errorf("delivered %s", got)
				}
				if n := len(seen.of(eventsource.Filtered)); n != 1 {
					t.Errorf("%d messages filtered: %v", n, seen.lines())
				}
			})
		})
	}
}

func TestMappingsThatLambdaWasRecordedToRefuse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *eventsource.Mapping){
		"a pattern of null":            func(m *eventsource.Mapping) { m.Filters = []string{`null`} },
		"a pattern of text":            func(m *eventsource.Mapping) { m.Filters = []string{`simple string`} },
		"a value without a list":       func(m *eventsource.Mapping) { m.Filters = []string{`{"eventSource":"aws:sqs"}`} },
		"an empty list":                func(m *eventsource.Mapping) { m.Filters = []string{`{"eventSource":[]}`} },
		"11 messages without a window": func(m *eventsource.Mapping) { m.BatchSize = 11 },
	} {
		m := mapping()
		change(&m)
		if err := m.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
