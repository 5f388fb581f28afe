package jobfile_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	jobs "github.com/sqsafe/sqsafe/internal/jobfile"
)

// fakeSQS records the bodies that it receives. It refuses the bodies in refuse,
// and the call number fail returns an error.
type fakeSQS struct {
	calls  [][]types.SendMessageBatchRequestEntry
	urls   []string
	at     []time.Time
	refuse map[string]bool
	mute   bool // the response mentions no entry
	fail   int
}

var errTorn = errors.New("connection torn")

func (f *fakeSQS) SendMessageBatch(
	_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	f.calls, f.urls, f.at = append(f.calls, in.Entries), append(f.urls, *in.QueueUrl), append(f.at, time.Now())
	if len(f.calls) == f.fail {
		return nil, errTorn
	}
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		switch {
		case f.mute:
		case f.refuse[*e.MessageBody]:
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{
				Id: e.Id, Code: aws.String("InternalError"), Message: aws.String("not today"), SenderFault: true,
			})
		default:
			out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{
				Id: e.Id, MessageId: aws.String("id of " + *e.MessageBody),
			})
		}
	}
	return out, nil
}

// bodies returns the bodies of each call.
func (f *fakeSQS) bodies() []string {
	var all []string
	for _, entries := range f.calls {
		var bodies []string
		for _, e := range entries {
			bodies = append(bodies, *e.MessageBody)
		}
		all = append(all, strings.Join(bodies, " "))
	}
	return all
}

func numbered(n int, q jobs.Queue) []jobs.Job {
	list := make([]jobs.Job, n)
	for i := range list {
		list[i] = jobs.Job{Queue: q, Body: strconv.Itoa(i + 1), Group: "g"}
	}
	return list
}

// outcomes returns an observer that records each message: its number, and its
// id or error.
func outcomes(into *[]string) func(jobs.Result) {
	return func(r jobs.Result) {
		text := r.MessageID
		if r.Err != nil {
			text = r.Err.Error()
		}
		*into = append(*into, fmt.Sprint(r.Number, " ", text))
	}
}

func TestSendFillsCalls(t *testing.T) {
	t.Parallel()
	large := func(kib int) jobs.Job { return jobs.Job{Body: strings.Repeat("x", kib<<10)} }
	for _, tt := range []struct {
		name  string
		jobs  []jobs.Job
		sizes []int
	}{
		{"none", nil, nil},
		{"ten a call", numbered(23, jobs.Queue{}), []int{10, 10, 3}},
		{"copies", []jobs.Job{{Body: "x", Times: 12}, {Body: "y"}}, []int{10, 3}},
		{"1 MiB a call", []jobs.Job{large(600), large(424), large(1), large(1024), large(1)}, []int{2, 1, 1, 1}},
		{"one queue a call", []jobs.Job{
			{Body: "x", Queue: jobs.Queue{URL: "a"}}, {Body: "x", Queue: jobs.Queue{URL: "b"}},
			{Body: "x", Queue: jobs.Queue{URL: "b"}},
		}, []int{1, 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var api fakeSQS
			if err := jobs.Send(t.Context(), &api, tt.jobs, jobs.Options{}); err != nil {
				t.Fatal(err)
			}
			var sizes []int
			for _, entries := range api.calls {
				sizes = append(sizes, len(entries))
			}
			if diff := cmp.Diff(tt.sizes, sizes); diff != "" {
				t.Errorf("sizes of calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSendReportsEachMessage(t *testing.T) {
	t.Parallel()
	standard, fifo := jobs.Queue{URL: "u"}, jobs.Queue{URL: "u.fifo", FIFO: true}
	for _, tt := range []struct {
		name string
		jobs []jobs.Job
		api  fakeSQS
		want []string
		err  string
	}{
		{"refused, and the others are sent", numbered(3, standard), fakeSQS{refuse: map[string]bool{"2": true}},
			[]string{"1 id of 1", "2 SQS refused the entry: InternalError: not today", "3 id of 3"}, ""},
		{"refused in a FIFO queue, later ones not sent", numbered(12, fifo), fakeSQS{refuse: map[string]bool{"10": true}},
			[]string{"1 id of 1", "2 id of 2", "3 id of 3", "4 id of 4", "5 id of 5", "6 id of 6", "7 id of 7",
				"8 id of 8", "9 id of 9", "10 SQS refused the entry: InternalError: not today"},
			"SQS refused the entry: InternalError: not today"},
		{"no answer", numbered(1, standard), fakeSQS{fail: 1}, []string{"1 connection torn"}, "connection torn"},
		{"a response without the message", numbered(1, standard), fakeSQS{mute: true},
			[]string{"1 the queue did not answer for this message"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			err := jobs.Send(t.Context(), &tt.api, tt.jobs, jobs.Options{Observe: outcomes(&got)})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if (err != nil) != (tt.err != "") || err != nil && err.Error() != tt.err {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func TestSendSetsAllParameters(t *testing.T) {
	t.Parallel()
	var api fakeSQS
	list := []jobs.Job{
		{Body: "x", Group: "g", Dedup: "d", Delay: 7 * time.Second, Attributes: map[string]string{"a": "b"}},
		{Queue: jobs.Queue{FIFO: true}, Body: "y", Group: "h"},
		{Body: "z"},
	}
	distinct := func() string { return "its own" }
	if err := jobs.Send(t.Context(), &api, list, jobs.Options{Distinct: distinct}); err != nil {
		t.Fatal(err)
	}
	want := []types.SendMessageBatchRequestEntry{
		{Id: aws.String("0"), MessageBody: aws.String("x"), DelaySeconds: 7, MessageGroupId: aws.String("g"),
			MessageDeduplicationId: aws.String("d"), MessageAttributes: map[string]types.MessageAttributeValue{
				"a": {DataType: aws.String("String"), StringValue: aws.String("b")},
			}},
		{Id: aws.String("1"), MessageBody: aws.String("y"), MessageGroupId: aws.String("h"),
			MessageDeduplicationId: aws.String("its own")},
		{Id: aws.String("2"), MessageBody: aws.String("z")},
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.String(), "noSmithyDocumentSerde") },
		cmp.Ignore())
	if diff := cmp.Diff(want, api.calls[0], ignore); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestSendObservesTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		for _, tt := range []struct {
			rate  float64
			jobs  int
			calls int
			last  time.Duration
		}{
			{0, 30, 3, 0},
			{0.5, 3, 3, 4 * time.Second},
			{20, 41, 21, 2 * time.Second},
			{1000, 2001, 201, 2 * time.Second},
		} {
			var api fakeSQS
			begun := time.Since(start)
			if err := jobs.Send(t.Context(), &api, numbered(tt.jobs, jobs.Queue{}), jobs.Options{Rate: tt.rate}); err != nil {
				t.Fatal(err)
			}
			took := api.at[len(api.at)-1].Sub(start) - begun
			if len(api.calls) != tt.calls || took.Round(time.Millisecond) != tt.last {
				t.Errorf("rate %g: %d calls, the last after %v; want %d and %v",
					tt.rate, len(api.calls), took, tt.calls, tt.last)
			}
		}
	})
}

func TestSendEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		var api fakeSQS
		err := jobs.Send(ctx, &api, numbered(5, jobs.Queue{}), jobs.Options{Rate: 1})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		if diff := cmp.Diff([]string{"1", "2"}, api.bodies()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// TestSendSendsAllInOrder generates any mix of sizes, copies and queues.
func TestSendSendsAllInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []jobs.Job
		var want []string
		for range rapid.IntRange(0, 40).Draw(t, "jobs") {
			queue := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue")
			body := strings.Repeat("x", rapid.SampledFrom([]int{1, 1000, 300_000, 1 << 20}).Draw(t, "bytes"))
			times := rapid.IntRange(0, 12).Draw(t, "times")
			list = append(list, jobs.Job{Queue: jobs.Queue{URL: queue}, Body: body, Times: times})
			for range max(1, times) {
				want = append(want, fmt.Sprint(queue, len(body)))
			}
		}
		var api fakeSQS
		if err := jobs.Send(context.Background(), &api, list, jobs.Options{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, entries := range api.calls {
			bytes := 0
			for _, e := range entries {
				bytes += len(*e.MessageBody)
				got = append(got, fmt.Sprint(api.urls[i], len(*e.MessageBody)))
			}
			if len(entries) == 0 || len(entries) > 10 || bytes > 1<<20 {
				t.Fatalf("a call of %d entries and %d bytes", len(entries), bytes)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
}

// TestARefusedMessageIsNotOvertaken generates FIFO groups of which SQS refuses some
// messages: what is sent of a group is its beginning.
func TestARefusedMessageIsNotOvertaken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		api := fakeSQS{refuse: map[string]bool{}}
		var list []jobs.Job
		groups := map[string][]string{}
		for i := range rapid.IntRange(0, 30).Draw(t, "jobs") {
			group, body := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group"), strconv.Itoa(i)
			api.refuse[body] = rapid.IntRange(0, 9).Draw(t, "dice") == 0
			list = append(list, jobs.Job{Queue: jobs.Queue{URL: "u.fifo", FIFO: true}, Body: body, Group: group})
			groups[group] = append(groups[group], body)
		}
		sent := map[string][]string{}
		_ = jobs.Send(context.Background(), &api, list, jobs.Options{Observe: func(r jobs.Result) {
			if r.Err == nil {
				sent[r.Job.Group] = append(sent[r.Job.Group], r.Job.Body)
			}
		}})
		for group, got := range sent {
			if diff := cmp.Diff(groups[group][:len(got)], got); diff != "" {
				t.Errorf("group %s (-want +got):\n%s", group, diff)
			}
		}
	})
}
