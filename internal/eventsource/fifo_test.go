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

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// sendGroups sends message 1 of every group, then message 2 of every group, up
// to n, so that the groups are interleaved in the queue.
func sendGroups(t *testing.T, client *sqs.Client, url string, groups, n int) {
	t.Helper()
	var entries []types.SendMessageBatchRequestEntry
	for i := range n {
		for g := range groups {
			body := fmt.Sprintf("g%d/%d", g, i+1)
			entries = append(entries, types.SendMessageBatchRequestEntry{
				Id: aws.String(fmt.Sprint(len(entries))), MessageBody: aws.String(body),
				MessageGroupId: aws.String(fmt.Sprintf("g%d", g)), MessageDeduplicationId: aws.String(body),
			})
		}
	}
	for chunk := range slices.Chunk(entries, 10) {
		in := &sqs.SendMessageBatchInput{QueueUrl: aws.String(url), Entries: chunk}
		out, err := client.SendMessageBatch(t.Context(), in)
		if err != nil || len(out.Failed) > 0 {
			t.Fatalf("sending: %v, %+v", err, out)
		}
	}
}

// groupTracker is a function that tracks which groups it is working on.
type groupTracker struct {
	t *testing.T
	// pace is the duration of an invocation; fail reports whether a message
	// fails.
	pace time.Duration
	fail func(group, body string) bool

	mu      sync.Mutex
	working map[string]bool
	running int
	busiest int                 // maximum number of concurrent invocations
	done    map[string][]string // bodies by group, in order
	mixed   bool                // whether a batch had messages of several groups
}

func (f *groupTracker) Invoke(_ context.Context, event []byte) ([]byte, error) {
	batch := records(f.t, event)
	groups := f.enter(batch)
	<-time.After(f.pace)
	return []byte(failures(f.leave(batch, groups)...)), nil
}

func (f *groupTracker) enter(batch []events.SQSMessage) map[string]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	groups := map[string]bool{}
	for _, r := range batch {
		group := r.Attributes["MessageGroupId"]
		if f.working[group] && !groups[group] {
			f.t.Errorf("group %s is in two invocations", group)
		}
		groups[group], f.working[group] = true, true
	}
	f.running++
	f.busiest = max(f.busiest, f.running)
	f.mixed = f.mixed || len(groups) > 1
	return groups
}

// leave returns the failed messages, each with the rest of its group.
func (f *groupTracker) leave(batch []events.SQSMessage, groups map[string]bool) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	stopped := map[string]bool{}
	var failed []string
	for _, r := range batch {
		group := r.Attributes["MessageGroupId"]
		if stopped[group] || f.fail != nil && f.fail(group, r.Body) {
			stopped[group] = true
			failed = append(failed, r.MessageId)
			continue
		}
		f.done[group] = append(f.done[group], r.Body)
	}
	for group := range groups {
		delete(f.working, group)
	}
	f.running--
	return failed
}

func newGroupTracker(t *testing.T, pace time.Duration) *groupTracker {
	return &groupTracker{t: t, pace: pace, working: map[string]bool{}, done: map[string][]string{}}
}

// checkOrder checks that messages 1 to n of each group ran in order, each once.
func (f *groupTracker) checkOrder(groups, n int) {
	f.t.Helper()
	if len(f.done) != groups {
		f.t.Errorf("%d groups have run, want %d", len(f.done), groups)
	}
	for group, bodies := range f.done {
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("%s/%d", group, i+1))
		}
		if diff := cmp.Diff(want, bodies); diff != "" {
			f.t.Errorf("group %s (-want +got):\n%s", group, diff)
		}
	}
}

func TestGroupIsNeverInTwoInvocations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, _ := newQueues(t, client, ".fifo")
		const groups, n = 8, 20
		sendGroups(t, client, source, groups, n)
		f := newGroupTracker(t, 3*time.Second)
		m := eventsource.Mapping{
			QueueURL: source, QueueARN: localARN + "jobs.fifo", ReportBatchItemFailures: true,
			BatchSize: 3, Concurrency: 6,
		}
		poll(t, client, m, 10*time.Minute, f.Invoke)
		f.checkOrder(groups, n)
		if f.busiest < 2 {
			t.Errorf("%d invocations at a time, want several", f.busiest)
		}
	})
}

func TestThousandGroupsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"no failures": false, "the first message of each seventh group fails": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
				source, dead := newQueues(t, client, ".fifo")
				const groups, n = 1000, 3
				sendGroups(t, client, source, groups, n)
				f := newGroupTracker(t, time.Second)
				failed := map[string]bool{}
				f.fail = func(group, body string) bool {
					again := failed[body]
					failed[body] = true
					return fails && !again && strings.HasSuffix(group, "7") && strings.HasSuffix(body, "/1")
				}
				m := eventsource.Mapping{
					QueueURL: source, QueueARN: localARN + "jobs.fifo", ReportBatchItemFailures: true, Concurrency: 10,
				}
				s := poll(t, client, m, 10*time.Minute, f.Invoke)
				f.checkOrder(groups, n)
				if !f.mixed {
					t.Error("no batch had several groups")
				}
				if got := strings.Count(deleted(s), " ") + 1; got != groups*n {
					t.Errorf("deleted %d messages, want %d", got, groups*n)
				}
				if got := len(s.of(eventsource.Reported)) > 0; got != fails {
					t.Errorf("failures reported: %t, want %t", got, fails)
				}
				if left := append(receiveAll(t, client, source), receiveAll(t, client, dead)...); len(left) > 0 {
					t.Errorf("left in the queues: %q", left)
				}
			})
		})
	}
}

// TestLateDeleteFailsOnFIFO checks that an invocation that runs longer than the
// visibility timeout cannot delete its message: the receipt handle has expired.
func TestLateDeleteFailsOnFIFO(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		source, _ := newQueues(t, client, ".fifo")
		send(t, client, source, "a1")
		m := eventsource.Mapping{QueueURL: source, QueueARN: localARN + "jobs.fifo", Concurrency: 1}
		first := true
		s := poll(t, client, m, 2*time.Minute, func(context.Context, []byte) ([]byte, error) {
			if first {
				first = false
				<-time.After(31 * time.Second)
			}
			return nil, nil
		})
		var kinds []eventsource.Kind
		for _, e := range s.events {
			kinds = append(kinds, e.Kind)
		}
		want := []eventsource.Kind{
			eventsource.Received, eventsource.Invoked, eventsource.DeleteFailed,
			eventsource.Received, eventsource.Invoked, eventsource.Deleted,
		}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
	})
}
