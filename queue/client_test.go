package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/queue"
)

// operations are both batch calls as one, so that they are held to one behaviour.
var operations = map[string]func(t *testing.T, s *queue.Client, ms []*handler.Message) []error{
	"Delete": func(t *testing.T, s *queue.Client, ms []*handler.Message) []error {
		return remove(t.Context(), s, ms...)
	},
	"ChangeVisibility": func(t *testing.T, s *queue.Client, ms []*handler.Message) []error {
		return hide(t.Context(), s, time.Minute, ms...)
	},
}

func newClient(t *testing.T, api queue.API, o *queue.Options) *queue.Client {
	t.Helper()
	c, err := queue.New(api, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hide asks for the timeout and gives the answers.
func hide(ctx context.Context, c *queue.Client, timeout time.Duration, ms ...*handler.Message) []error {
	changes := make([]handler.VisibilityChange, len(ms))
	for i, m := range ms {
		changes[i] = handler.VisibilityChange{Message: m, Timeout: timeout}
	}
	c.ChangeVisibility(ctx, changes)
	errs := make([]error, len(ms))
	for i := range changes {
		errs[i] = changes[i].Answer()
	}
	return errs
}

// remove asks for the deletion and gives the answers.
func remove(ctx context.Context, c *queue.Client, ms ...*handler.Message) []error {
	deletions := make([]handler.Deletion, len(ms))
	for i, m := range ms {
		deletions[i].Message = m
	}
	c.Delete(ctx, deletions)
	errs := make([]error, len(ms))
	for i := range deletions {
		errs[i] = deletions[i].Answer()
	}
	return errs
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	var none *sqs.Client
	tests := map[string]struct {
		api  queue.API
		o    *queue.Options
		says string
	}{
		"no client":        {nil, nil, "the client is nil"},
		"nil SDK client":   {none, nil, "the client is nil"},
		"no host":          {&fakeSQS{}, &queue.Options{Endpoint: "localhost:4570"}, `"localhost:4570"`},
		"less than a call": {&fakeSQS{}, &queue.Options{Concurrency: -1}, "Concurrency is -1, want at least 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := queue.New(tt.api, tt.o)
			if c != nil || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("client %v, error %v; want one that says %s", c, err, tt.says)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	refusal := types.BatchResultErrorEntry{
		Code: aws.String("ReceiptHandleIsInvalid"), Message: aws.String("expired"), SenderFault: true,
	}
	down := errors.New("dial tcp: connection refused")
	type refusals = map[string]types.BatchResultErrorEntry
	tests := map[string]struct {
		api  fakeAnswers
		n    int
		want map[int]error
	}{
		"nothing to do": {n: 0},
		"all succeed":   {n: 25},
		"one refused": {
			api: fakeAnswers{refuse: refusals{"m-12": refusal}}, n: 25,
			want: map[int]error{12: &queue.EntryError{
				Code: "ReceiptHandleIsInvalid", Message: "expired", SenderFault: true,
			}},
		},
		"refused without a message": {
			api: fakeAnswers{refuse: refusals{"m-0": {Code: aws.String("InternalError")}}}, n: 3,
			want: map[int]error{0: &queue.EntryError{Code: "InternalError"}},
		},
		"refused without a code": {
			api: fakeAnswers{refuse: refusals{"m-1": {}}}, n: 2,
			want: map[int]error{1: &queue.EntryError{}},
		},
		"one not answered": {
			api: fakeAnswers{silent: map[string]bool{"m-9": true}}, n: 11,
			want: map[int]error{9: handler.ErrUnanswered},
		},
		"answered both ways": {
			api: fakeAnswers{contradict: map[string]bool{"m-2": true}}, n: 3,
			want: map[int]error{2: &queue.EntryError{}},
		},
		"the second call fails": {
			api: fakeAnswers{callErr: map[string]error{"m-11": down}}, n: 12,
			want: map[int]error{10: down, 11: down},
		},
		"a call fails, the next goes on": {
			api: fakeAnswers{callErr: map[string]error{"m-1": down}, silent: map[string]bool{"m-3": true}}, n: 11,
			want: map[int]error{
				0: down, 1: down, 2: down, 3: down, 4: down, 5: down, 6: down, 7: down, 8: down, 9: down,
			},
		},
	}
	for operation, run := range operations {
		for name, tt := range tests {
			t.Run(operation+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					got := run(t, newClient(t, &fakeSQS{fakeAnswers: tt.api}, nil), messages(chargeARN, "m", tt.n))
					want := make([]error, tt.n)
					for i, err := range tt.want {
						want[i] = err
					}
					if diff := cmp.Diff(want, got, cmp.Comparer(sameError)); diff != "" {
						t.Errorf("answers differ (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// An entry that SQS could not take for a reason of its own is asked for again, and
// the others are not.
func TestEntriesThatSQSFailsAreAskedForAgain(t *testing.T) {
	t.Parallel()
	for operation, run := range operations {
		for failures, succeeds := range map[int]bool{1: true, 2: true, 3: false} {
			t.Run(fmt.Sprint(operation, "/", failures), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					api := &fakeSQS{fakeAnswers: fakeAnswers{fails: map[string]int{"m-1": failures, "m-12": failures}}}
					errs := run(t, newClient(t, api, nil), messages(chargeARN, "m", 13))
					for i, err := range errs {
						failed, isFailed := errors.AsType[*queue.EntryError](err)
						if want := !succeeds && (i == 1 || i == 12); isFailed != want || (err != nil) != want {
							t.Errorf("message %d: %v", i, err)
						} else if want && (failed.Code != "InternalError" || failed.SenderFault) {
							t.Errorf("message %d: %v, want what SQS said", i, failed)
						}
					}
					if want := 2 + 2*min(failures, 2); len(api.calls) != want {
						t.Errorf("%d calls, want %d", len(api.calls), want)
					}
					for _, c := range api.calls {
						if n := len(c.Entries); n != 10 && n != 3 && (n != 1 || !api.failing(c.Entries[0].Receipt)) {
							t.Errorf("call for %v", c.Entries)
						}
					}
				})
			})
		}
	}
}

func sameError(a, b error) bool {
	var x, y *queue.EntryError
	if errors.As(a, &x) && errors.As(b, &y) {
		return *x == *y
	}
	return errors.Is(a, b)
}

func TestCallsHaveAtMostTenEntriesOfOneQueue(t *testing.T) {
	t.Parallel()
	const otherARN = "arn:aws:sqs:eu-central-1:123456789012:notify"
	for operation, run := range operations {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			var mixed []*handler.Message
			other := messages(otherARN, "o", 3)
			for i, m := range messages(chargeARN, "c", 12) {
				mixed = append(mixed, m)
				if i < len(other) {
					mixed = append(mixed, other[i])
				}
			}
			api := &fakeSQS{fakeAnswers: fakeAnswers{
				refuse: map[string]types.BatchResultErrorEntry{"o-1": {Code: aws.String("Invalid"), SenderFault: true}},
			}}
			errs := run(t, newClient(t, api, &queue.Options{Concurrency: 1}), mixed)

			type shape struct {
				URL, IDs, Receipts string
			}
			var got []shape
			for _, c := range api.calls {
				var receipts []string
				for _, e := range c.Entries {
					receipts = append(receipts, e.Receipt)
				}
				got = append(got, shape{c.URL, strings.Join(c.IDs, " "), strings.Join(receipts, " ")})
			}
			const host = "https://sqs.eu-central-1.amazonaws.com/123456789012/"
			want := []shape{
				{host + "charge", "0 1 2 3 4 5 6 7 8 9", "c-0 c-1 c-2 c-3 c-4 c-5 c-6 c-7 c-8 c-9"},
				{host + "charge", "0 1", "c-10 c-11"},
				{host + "notify", "0 1 2", "o-0 o-1 o-2"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s", diff)
			}
			for i, err := range errs {
				if refused := mixed[i].ReceiptHandle == "o-1"; refused != (err != nil) {
					t.Errorf("%s: error %v", mixed[i].ReceiptHandle, err)
				}
			}
		})
	}
}

func TestAMessageOfAnUnknownQueueHarmsNoOther(t *testing.T) {
	t.Parallel()
	for operation, run := range operations {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			ms := slices.Concat(messages(chargeARN, "a", 1), messages("arn:aws:kinesis:eu-central-1:1:stream/x", "b", 1))
			errs := run(t, newClient(t, &fakeSQS{}, nil), ms)
			if errs[0] != nil {
				t.Errorf("message of a queue: %v", errs[0])
			}
			if errs[1] == nil || !strings.Contains(errs[1].Error(), "stream/x") {
				t.Errorf("message of a stream: got %v, want an error that names its ARN", errs[1])
			}
		})
	}
}

func TestVisibilityTimeoutIsInWholeSeconds(t *testing.T) {
	t.Parallel()
	tests := map[time.Duration]int32{
		0:                       0,
		time.Millisecond:        1,
		time.Second:             1,
		1500 * time.Millisecond: 2,
		12 * time.Hour:          43200,
	}
	for timeout, want := range tests {
		t.Run(timeout.String(), func(t *testing.T) {
			t.Parallel()
			api := &fakeSQS{}
			m := messages(chargeARN, "m", 1)[0]
			if err := hide(t.Context(), newClient(t, api, nil), timeout, m)[0]; err != nil {
				t.Fatal(err)
			}
			if got := api.calls[0].Entries[0].Timeout; got != want {
				t.Errorf("got %d s, want %d s", got, want)
			}
		})
	}
}

func TestEndpointOption(t *testing.T) {
	t.Parallel()
	api := &fakeSQS{}
	c := newClient(t, api, &queue.Options{Endpoint: "http://127.0.0.1:4570"})
	remove(t.Context(), c, messages(chargeARN, "m", 1)...)
	if got, want := api.calls[0].URL, "http://127.0.0.1:4570/123456789012/charge"; got != want {
		t.Errorf("queue URL %q, want %q", got, want)
	}
}

func TestConcurrencyBoundsTheCalls(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options *queue.Options
		want    int32
	}{
		"by default": {nil, 4},
		"zero":       {&queue.Options{}, 4},
		"two":        {&queue.Options{Concurrency: 2}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var running, most atomic.Int32
				api := &fakeSQS{entered: func() {
					now := running.Add(1)
					for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
					}
					<-time.After(time.Second)
					running.Add(-1)
				}}
				errs := remove(t.Context(), newClient(t, api, tt.options), messages(chargeARN, "m", 95)...)
				if err := errors.Join(errs...); err != nil {
					t.Error(err)
				}
				if got := most.Load(); got != tt.want {
					t.Errorf("%d calls at a time, want %d", got, tt.want)
				}
			})
		})
	}
}
