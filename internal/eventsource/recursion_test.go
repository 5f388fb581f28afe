package eventsource_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// lineageKey is under what the lineage of an invocation is in its context.
type lineageKey struct{}

func recursion(function string) *eventsource.Recursion {
	return &eventsource.Recursion{Function: function, Lineage: func(ctx context.Context, lineage string) context.Context {
		return context.WithValue(ctx, lineageKey{}, lineage)
	}}
}

// sendOn sends a message as an SDK within the function does: with the lineage of the
// invocation in the trace header.
func sendOn(ctx context.Context, t *testing.T, client *sqs.Client, url, body, group string) {
	t.Helper()
	lineage, _ := ctx.Value(lineageKey{}).(string)
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body}
	if group != "" {
		in.MessageGroupId, in.MessageDeduplicationId = &group, aws.String(body)
	}
	if lineage != "" {
		escaped := strings.ReplaceAll(lineage, "|", "%7C")
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{"AWSTraceHeader": {
			DataType:    aws.String("String"),
			StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=" + escaped),
		}}
	}
	if _, err := client.SendMessage(context.WithoutCancel(ctx), in); err != nil {
		t.Error(err)
	}
}

// loop polls with the options until d has passed, and returns the bodies that the function
// got.
func loop(
	t *testing.T, client *sqs.Client, m eventsource.Mapping, o *eventsource.Options, d time.Duration,
	run func(context.Context, string),
) (bodies []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	invoke := function(func(ctx context.Context, event []byte) ([]byte, error) {
		for _, r := range records(t, event) {
			bodies = append(bodies, r.Body)
			run(ctx, r.Body)
		}
		return nil, nil
	})
	if err := eventsource.New(client, invoke, m, o).Run(ctx); err != nil {
		t.Fatal(err)
	}
	return bodies
}

// TestALoopIsStopped has a function that sends each message on to its own queue: the 17th
// invocation is not made, SQS hands its message out again, and moves it at last. A message
// that comes with it is run.
func TestALoopIsStopped(t *testing.T) {
	t.Parallel()
	for name, suffix := range map[string]string{"standard": "", "FIFO": ".fifo"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
				source, dead := newQueues(t, client, suffix)
				group := strings.Repeat("g", len(suffix))
				sendOn(t.Context(), t, client, source, "1", group)
				var failed []string
				s := &recording{}
				m := eventsource.Mapping{QueueURL: source, QueueARN: localARN + "jobs" + suffix, Concurrency: 1}
				bodies := loop(t, client, m, &eventsource.Options{Observe: s.observe, Recursion: recursion("charge")},
					3*time.Minute, func(ctx context.Context, body string) {
						if len(body) < 40 { // so that a fault here does not go on for ever
							sendOn(ctx, t, client, source, body+"+", group)
						}
					})
				for _, e := range s.of(eventsource.Failed) {
					var loop *eventsource.RecursionError
					if !errors.As(e.Err, &loop) || loop.Function != "charge" || loop.Invocations != 16 {
						t.Errorf("failed with %v", e.Err)
					}
					failed = append(failed, fmt.Sprint(e.Messages[0].ReceiveCount))
				}
				last := "1" + strings.Repeat("+", 16)
				if len(bodies) != 16 || slices.Contains(bodies, last) {
					t.Errorf("%d invocations: %q", len(bodies), bodies)
				}
				if diff := cmp.Diff([]string{"1", "2", "3"}, failed); diff != "" {
					t.Errorf("receives of the stopped message (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{last}, receiveAll(t, client, dead)); diff != "" {
					t.Errorf("dead-letter queue (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestWhatIsNoLoopRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, _ := newQueues(t, client, "")
		m := eventsource.Mapping{QueueURL: source, QueueARN: localARN + "jobs", Concurrency: 1}
		again := func(ctx context.Context, body string) {
			if len(body) < 40 {
				sendOn(ctx, t, client, source, body+"+", "")
			}
		}
		sendOn(t.Context(), t, client, source, "1", "")
		if got := loop(t, client, m, nil, time.Minute, again); len(got) != 40 {
			t.Errorf("a function that may: %d invocations, want 40", len(got))
		}
		// A function is invoked often by others' messages, once by each chain.
		other := recursion("other")
		for range 20 {
			chain := other.Lineage(t.Context(), "0000beef:15|strange")
			sendOn(chain, t, client, source, "x", "")
		}
		var next []string
		loop(t, client, m, &eventsource.Options{Recursion: recursion("charge")}, time.Minute,
			func(ctx context.Context, _ string) {
				lineage, _ := ctx.Value(lineageKey{}).(string)
				next = append(next, lineage)
			})
		if len(next) != 20 || !strings.HasPrefix(next[0], "0000beef:15|strange|") || !strings.HasSuffix(next[0], ":0") {
			t.Errorf("lineages %q", next)
		}
	})
}

// TestMessagesBesideALoopRun share a batch with one that is stopped.
func TestMessagesBesideALoopRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, _ := newQueues(t, client, "")
		m := eventsource.Mapping{QueueURL: source, QueueARN: localARN + "jobs", Concurrency: 1}
		var lineage string
		sendOn(t.Context(), t, client, source, "first", "")
		loop(t, client, m, &eventsource.Options{Recursion: recursion("charge")}, time.Second,
			func(ctx context.Context, _ string) { lineage, _ = ctx.Value(lineageKey{}).(string) })
		worn := strings.Replace(lineage, ":0", ":15", 1)
		for body, chain := range map[string]string{"looping": worn, "fresh": "", "on its way": lineage} {
			sendOn(recursion("").Lineage(t.Context(), chain), t, client, source, body, "")
		}
		var next string
		bodies := loop(t, client, m, &eventsource.Options{Recursion: recursion("charge")}, time.Second,
			func(ctx context.Context, _ string) { next, _ = ctx.Value(lineageKey{}).(string) })
		slices.Sort(bodies)
		if diff := cmp.Diff([]string{"fresh", "on its way"}, bodies); diff != "" || next != lineage {
			t.Errorf("lineage %q, want that of the fresh message, %q; bodies (-want +got):\n%s", next, lineage, diff)
		}
	})
}

func FuzzLineage(f *testing.F) {
	f.Add("Root=1-5759e988-bd862e3fe1be46a994272793;Lineage=a87bd80c:3%7C0000beef:99")
	f.Add("Lineage=%zz|:|a:-1;Lineage=")
	f.Fuzz(func(t *testing.T, trace string) {
		if got := eventsource.NextLineage(trace, "charge"); !strings.Contains(got, ":") {
			t.Errorf("%q gives the lineage %q", trace, got)
		}
	})
}
