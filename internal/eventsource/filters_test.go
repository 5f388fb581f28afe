package eventsource_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// orders returns a mapping whose filter lets orders in JSON pass.
func orders() eventsource.Mapping {
	m := mapping()
	m.Filters = []string{`{"body":{"kind":["order"]}}`}
	return m
}

// bodies returns messages m1, m2 … with these bodies that arrive at the same
// time.
func bodies(list ...string) []arrival {
	var arrivals []arrival
	for i, body := range list {
		arrivals = append(arrivals, arrival{0, message(numbered(i+1, i+1)[0], body)})
	}
	return arrivals
}

const order, refund = `{"kind":"order"}`, `{"kind":"refund"}`

func TestFilteredMessagesAreDeletedWithoutInvocation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := run(t, orders(), newQueue(bodies("text", order, refund, refund, order)...), answers(failures("m5")), time.Minute)
		want := []string{
			"filtered m3 m4", "filtered m1", "deleted m1 m3 m4",
			"received m2 m5", "invoked m2 m5", "reported m5", "deleted m2",
		}
		if diff := cmp.Diff(want, s.lines()); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
		var reasons []string
		for _, e := range s.of(eventsource.Filtered) {
			reasons = append(reasons, e.Reason)
		}
		if diff := cmp.Diff([]string{string(filter.Unmatched), string(filter.WantsJSON)}, reasons); diff != "" {
			t.Errorf("reasons (-want +got):\n%s", diff)
		}
	})
}

func TestBatchOfFilteredMessagesIsNotInvoked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(bodies(refund, refund)...)
		s := run(t, orders(), q, answers("{}"), time.Minute)
		if diff := cmp.Diff([]string{"filtered m1 m2", "deleted m1 m2"}, s.lines()); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
		if got := q.receives[1].At; got != 0 {
			t.Errorf("next receive after %s, want at once", got)
		}
	})
}

func TestFilteredMessagesDoNotCountTowardsTheBatchSize(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := orders()
		m.BatchSize, m.Window = 2, time.Minute
		s := run(t, m, newQueue(bodies(order, refund, refund, order, order)...), answers("{}"), 2*time.Minute)
		var got []string
		for _, e := range s.of(eventsource.Invoked) {
			var ids []string
			for _, msg := range e.Messages {
				ids = append(ids, msg.ID)
			}
			got = append(got, strings.Join(ids, " "))
		}
		if diff := cmp.Diff([]string{"m1 m4", "m5"}, got); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
	})
}

func TestFilteredMessageThatCannotBeDeletedIsNotInvoked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(bodies(refund, order)...)
		q.failDelete = func(_ int, receipt string) *types.BatchResultErrorEntry {
			if receipt != "receipt of m1" {
				return nil
			}
			return &types.BatchResultErrorEntry{Code: aws.String("ReceiptHandleIsInvalid"), SenderFault: true}
		}
		want := []string{"filtered m1", "delete_failed m1", "received m2", "invoked m2", "deleted m2"}
		if diff := cmp.Diff(want, run(t, orders(), q, answers("{}"), time.Minute).lines()); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
	})
}

func TestFilteredMessageIsNotDeliveredAgain(t *testing.T) {
	t.Parallel()
	for name, suffix := range map[string]string{"standard": "", "FIFO": ".fifo"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
				source, dead := newQueues(t, client, suffix)
				send(t, client, source, "abc", "bcd", "acd")
				m := eventsource.Mapping{
					QueueURL: source, QueueARN: localARN + "jobs" + suffix,
					Filters: []string{`{"body":[{"prefix":"b"}]}`, `{"body":[{"suffix":"bc"}]}`},
				}
				seen := poll(t, client, m, 2*time.Minute, answers("{}"))
				if got := len(seen.of(eventsource.Filtered)); got != 1 {
					t.Errorf("filtered %d times, want once", got)
				}
				if got := strings.Count(deleted(seen), " ") + 1; got != 3 {
					t.Errorf("deleted %d messages, want 3", got)
				}
				if left := append(receiveAll(t, client, source), receiveAll(t, client, dead)...); len(left) > 0 {
					t.Errorf("left in the queues: %q", left)
				}
			})
		})
	}
}
