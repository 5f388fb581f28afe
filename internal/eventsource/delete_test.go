package eventsource_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
)

func TestDeletesInCallsOfTen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mapping()
		m.BatchSize, m.Window = 25, time.Second
		q := newQueue(at(0, 1, 25)...)
		run(t, m, q, answers(failures("m3")), time.Minute)
		var sizes []int
		for _, call := range q.deletes {
			sizes = append(sizes, len(call))
		}
		if diff := cmp.Diff([]int{10, 10, 4}, sizes); diff != "" {
			t.Errorf("sizes of calls (-want +got):\n%s", diff)
		}
		if got := q.deletes[0][2]; got != "receipt of m4" {
			t.Errorf("third receipt handle %q, want that of m4", got)
		}
	})
}

func TestFailedDeletesAreRetried(t *testing.T) {
	t.Parallel()
	failM1 := func(until int, senderFault bool) func(int, string) *types.BatchResultErrorEntry {
		return func(call int, receipt string) *types.BatchResultErrorEntry {
			if call > until || receipt != "receipt of m1" {
				return nil
			}
			return &types.BatchResultErrorEntry{
				Code: aws.String("X"), Message: aws.String("why"), SenderFault: senderFault,
			}
		}
	}
	errCall := errors.New("connection refused")
	tests := map[string]struct {
		arrange func(*queue)
		want    []string
		calls   int
		err     string
	}{
		"fails once": {
			arrange: func(q *queue) { q.failDelete = failM1(1, false) },
			want:    []string{"deleted m2", "deleted m1"}, calls: 2,
		},
		"fails at every call": {
			arrange: func(q *queue) { q.failDelete = failM1(99, false) },
			want:    []string{"deleted m2", "delete_failed m1"}, calls: 3, err: "message not deleted: X: why",
		},
		"by the sender's fault": {
			arrange: func(q *queue) { q.failDelete = failM1(99, true) },
			want:    []string{"delete_failed m1", "deleted m2"}, calls: 1, err: "message not deleted: X: why",
		},
		"whole call": {
			arrange: func(q *queue) { q.deleteErr = errCall },
			want:    []string{"delete_failed m1 m2"}, calls: 1, err: errCall.Error(),
		},
		"without results": {
			arrange: func(q *queue) { q.forget = true },
			want:    []string{"delete_failed m1", "delete_failed m2"}, calls: 3,
			err: "message not deleted: SQS gave no result for it",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(at(0, 1, 2)...)
				test.arrange(q)
				s := run(t, mapping(), q, answers("{}"), time.Minute)
				if diff := cmp.Diff(test.want, s.lines()[2:]); diff != "" {
					t.Errorf("observed (-want +got):\n%s", diff)
				}
				if len(q.deletes) != test.calls {
					t.Errorf("%d calls, want %d", len(q.deletes), test.calls)
				}
				for _, e := range s.of(eventsource.DeleteFailed) {
					if e.Err.Error() != test.err {
						t.Errorf("error %v, want %s", e.Err, test.err)
					}
				}
			})
		})
	}
}
