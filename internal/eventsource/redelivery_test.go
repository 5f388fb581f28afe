package eventsource_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// poll runs a poller on an emulated queue for d of the bubble's time.
func poll(t *testing.T, client *sqs.Client, m eventsource.Mapping, d time.Duration, f function) *recording {
	t.Helper()
	s := &recording{}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := eventsource.New(client, f, m, &eventsource.Options{Observe: s.observe}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFailedBatchIsDeliveredAgainUntilItIsRedriven checks every way in which an invocation can fail as a
// whole: each message is received as often as the redrive policy allows, and
// moved to the dead-letter queue at the next receive, not before.
func TestFailedBatchIsDeliveredAgainUntilItIsRedriven(t *testing.T) {
	t.Parallel()
	refused := func(context.Context, []byte) ([]byte, error) { return []byte(`{}`), errFunction }
	tests := map[string]struct {
		reports bool
		answer  function
		kind    eventsource.Kind
	}{
		"function error": {true, refused, eventsource.Failed},
		"function error without partial batch answers": {false, refused, eventsource.Failed},
		"malformed answer": {true, answers(failures("nobody")), eventsource.Malformed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
				source, dead := newQueues(t, client, "")
				send(t, client, source, "a", "b")
				m := eventsource.Mapping{
					QueueURL: source, QueueARN: localARN + "jobs", Concurrency: 1,
					ReportBatchItemFailures: test.reports, Window: time.Second,
				}
				begin := time.Now()
				var seen []string
				s := poll(t, client, m, 85*time.Second, func(ctx context.Context, event []byte) ([]byte, error) {
					for _, r := range records(t, event) {
						seen = append(seen, fmt.Sprint(time.Since(begin).Truncate(10*time.Second), " ",
							r.Body, " ", r.Attributes["ApproximateReceiveCount"]))
					}
					return test.answer(ctx, event)
				})
				want := []string{"0s a 1", "0s b 1", "30s a 2", "30s b 2", "1m0s a 3", "1m0s b 3"}
				slices.SortFunc(want, strings.Compare) // messages of one receive come back in any order
				slices.SortFunc(seen, strings.Compare)
				if diff := cmp.Diff(want, seen); diff != "" {
					t.Errorf("deliveries (-want +got):\n%s", diff)
				}
				if got := len(s.of(test.kind)); got != 3 {
					t.Errorf("observed %s %d times in %q, want 3", test.kind, got, s.lines())
				}
				if early := receiveAll(t, client, dead); len(early) > 0 {
					t.Errorf("%q dead-lettered before the receive after the maximum", early)
				}
				poll(t, client, m, 30*time.Second, answers("{}"))
				if diff := cmp.Diff([]string{"a", "b"}, receiveAll(t, client, dead)); diff != "" {
					t.Errorf("dead-letter queue (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestVisibilityTimeoutIsAtMostTwelveHours checks that the longest visibility timeout
// is counted from the receive, also if the function changes it.
func TestVisibilityTimeoutIsAtMostTwelveHours(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, _ := newQueues(t, client, "")
		send(t, client, source, "a")
		begin := time.Now()
		hide := func(receipt string, seconds int32) error {
			_, err := client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
				QueueUrl: aws.String(source), ReceiptHandle: aws.String(receipt), VisibilityTimeout: seconds,
			})
			return err
		}
		var seen []time.Duration
		m := eventsource.Mapping{QueueURL: source, QueueARN: localARN + "jobs", Concurrency: 1}
		poll(t, client, m, 13*time.Hour, func(_ context.Context, event []byte) ([]byte, error) {
			seen = append(seen, time.Since(begin))
			if len(seen) > 1 {
				return nil, nil
			}
			<-time.After(10 * time.Second)
			receipt := records(t, event)[0].ReceiptHandle
			if err := hide(receipt, 43_200); err == nil {
				t.Error("hidden for 12 hours and 10 seconds")
			}
			if err := hide(receipt, 43_190); err != nil {
				t.Errorf("not hidden for 12 hours: %v", err)
			}
			return nil, errFunction
		})
		if diff := cmp.Diff([]time.Duration{0, 12 * time.Hour}, seen); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
	})
}

// TestMessageOfASlowInvocationIsDeliveredAgain checks that nothing extends the
// visibility timeout of a running batch.
func TestMessageOfASlowInvocationIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, _ := newQueues(t, client, "")
		send(t, client, source, "a")
		begin := time.Now()
		var counts sync.Map // two invocations write to it
		m := eventsource.Mapping{QueueURL: source, QueueARN: localARN + "jobs", Concurrency: 2}
		s := poll(t, client, m, 2*time.Minute, func(_ context.Context, event []byte) ([]byte, error) {
			count := records(t, event)[0].Attributes["ApproximateReceiveCount"]
			counts.Store(count, time.Since(begin))
			if count == "1" {
				<-time.After(40 * time.Second)
			}
			return nil, nil
		})
		got := map[any]any{}
		counts.Range(func(count, at any) bool { got[count] = at; return true })
		if diff := cmp.Diff(map[any]any{"1": time.Duration(0), "2": 30 * time.Second}, got); diff != "" {
			t.Errorf("time of each receive (-want +got):\n%s", diff)
		}
		if got := len(s.of(eventsource.Invoked)); got != 2 {
			t.Errorf("invoked %d times, want 2", got)
		}
	})
}
