package eventsource_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
)

func TestPartialBatchResponses(t *testing.T) {
	t.Parallel()
	const all, none = "m1 m2 m3", ""
	tests := map[string]struct {
		answer  string
		deleted string
		kind    eventsource.Kind
		reason  string
	}{
		"empty list":   {answer: `{"batchItemFailures":[]}`, deleted: all},
		"null list":    {answer: `{"batchItemFailures":null}`, deleted: all},
		"empty object": {answer: `{}`, deleted: all},
		"no answer":    {answer: ``, deleted: all},
		"white space":  {answer: " \n", deleted: all},
		"null":         {answer: `null`, deleted: all},
		"list alone":   {answer: `[]`, deleted: all},
		"empty string": {answer: `""`, deleted: all},
		"one failed":   {answer: failures("m2"), deleted: "m1 m3", kind: eventsource.Reported},
		"named twice":  {answer: failures("m2", "m2"), deleted: "m1 m3", kind: eventsource.Reported},
		"all failed":   {answer: failures("m1", "m2", "m3"), deleted: none, kind: eventsource.Reported},
		"extra member": {answer: `{"statusCode":200,` + failures("m1")[1:], deleted: "m2 m3", kind: eventsource.Reported},
		"another answer": {answer: `{"statusCode":200}`, deleted: all, kind: eventsource.Unnamed,
			reason: "the answer is an object without batchItemFailures"},
		"list in other case": {answer: `{"BatchItemFailures":[{"itemIdentifier":"m1"}]}`, deleted: all,
			kind: eventsource.Unnamed, reason: `the answer has "BatchItemFailures" where batchItemFailures belongs`},

		"empty id": {answer: failures("m1", ""), kind: eventsource.Malformed,
			reason: "batchItemFailures[1] has an empty itemIdentifier"},
		"null id": {answer: `{"batchItemFailures":[{"itemIdentifier":null}]}`, kind: eventsource.Malformed,
			reason: "batchItemFailures[0] has null as itemIdentifier, not a string"},
		"number as id": {answer: `{"batchItemFailures":[{"itemIdentifier":1}]}`, kind: eventsource.Malformed,
			reason: "batchItemFailures[0] has a number as itemIdentifier, not a string"},
		"unknown id": {answer: failures("m9"), kind: eventsource.Malformed,
			reason: `batchItemFailures[0] names "m9", which is not in the batch`},
		"receipt handle": {answer: failures("receipt of m1"), kind: eventsource.Malformed,
			reason: `batchItemFailures[0] names "receipt of m1", which is not in the batch`},
		"wrong key": {answer: `{"batchItemFailures":[{"messageId":"m1"}]}`, kind: eventsource.Malformed,
			reason: "batchItemFailures[0] has no itemIdentifier"},
		"key in other case": {answer: `{"batchItemFailures":[{"ItemIdentifier":"m1"}]}`, kind: eventsource.Malformed,
			reason: "batchItemFailures[0] has no itemIdentifier"},
		"list of strings": {answer: `{"batchItemFailures":["m1"]}`, kind: eventsource.Malformed,
			reason: "batchItemFailures[0] is a string, not an object"},
		"null entry": {answer: `{"batchItemFailures":[null]}`, kind: eventsource.Malformed,
			reason: "batchItemFailures[0] is null, not an object"},
		"no list": {answer: `{"batchItemFailures":{"itemIdentifier":"m1"}}`, kind: eventsource.Malformed,
			reason: "batchItemFailures is an object, not a list"},
		"boolean": {answer: `{"batchItemFailures":false}`, kind: eventsource.Malformed,
			reason: "batchItemFailures is a boolean, not a list"},
		"string":     {answer: `"ok"`, kind: eventsource.Malformed, reason: "the answer is a string, not an object"},
		"not JSON":   {answer: `ok`, kind: eventsource.Malformed, reason: "the answer is not JSON"},
		"cut JSON":   {answer: `{"batchItemFailures":[`, kind: eventsource.Malformed, reason: "the answer is not JSON"},
		"two values": {answer: `{}{}`, kind: eventsource.Malformed, reason: "the answer is not JSON"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := run(t, mapping(), newQueue(at(0, 1, 3)...), answers(test.answer), time.Minute)
				if got := deleted(s); got != test.deleted {
					t.Errorf("deleted %q, want %q", got, test.deleted)
				}
				kind, reason := eventsource.Kind(""), ""
				for _, e := range s.events[2:] { // the events after received and invoked
					if e.Kind != eventsource.Deleted {
						kind, reason = e.Kind, e.Reason
					}
				}
				if kind != test.kind || reason != test.reason {
					t.Errorf("observed %q, %q\n    want %q, %q", kind, reason, test.kind, test.reason)
				}
			})
		})
	}
}

func failures(ids ...string) string {
	var entries []string
	for _, id := range ids {
		entries = append(entries, `{"itemIdentifier":"`+id+`"}`)
	}
	return `{"batchItemFailures":[` + strings.Join(entries, ",") + `]}`
}

func deleted(s *recording) string {
	var list []string
	for _, e := range s.of(eventsource.Deleted) {
		for _, m := range e.Messages {
			list = append(list, m.ID)
		}
	}
	return strings.Join(list, " ")
}

func TestResponseIsIgnoredWithoutReportBatchItemFailures(t *testing.T) {
	t.Parallel()
	for answer, ignored := range map[string]string{
		failures("m1"): "ignored m1", "not JSON": "", failures("m9"): "", "": "", failures(): "", `{"other":1}`: "",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := mapping()
				m.ReportBatchItemFailures = false
				s := run(t, m, newQueue(at(0, 1, 2)...), answers(answer), time.Minute)
				want := []string{"received m1 m2", "invoked m1 m2"}
				if ignored != "" {
					want = append(want, ignored)
				}
				want = append(want, "deleted m1 m2")
				if diff := cmp.Diff(want, s.lines()); diff != "" {
					t.Errorf("observed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestFunctionErrorKeepsTheBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(at(0, 1, 2)...)
		s := run(t, mapping(), q, func(context.Context, []byte) ([]byte, error) {
			return []byte(failures("m1")), errFunction
		}, time.Minute)
		if diff := cmp.Diff([]string{"received m1 m2", "invoked m1 m2", "failed m1 m2"}, s.lines()); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
		if got := s.of(eventsource.Failed)[0].Err; !errors.Is(got, errFunction) {
			t.Errorf("error %v, want %v", got, errFunction)
		}
		if len(q.deletes) > 0 {
			t.Errorf("deleted %q, want nothing", q.deletes)
		}
	})
}
