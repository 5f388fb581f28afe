package dlq_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/queue"
)

// letters gives n letters with the bodies 0, 1, ….
func letters(n int) []handler.Letter {
	out := make([]handler.Letter, n)
	for i := range out {
		out[i] = letterOf(message(fmt.Sprint("m-", i), fmt.Sprint(i), nil))
	}
	return out
}

func TestNewSenderRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	var none *sqs.Client
	api := &fakeQueue{}
	tests := map[string]struct {
		api  dlq.API
		url  string
		o    *dlq.Options
		says string
	}{
		"no client":        {nil, standardURL, nil, "the client is nil"},
		"nil SDK client":   {none, standardURL, nil, "the client is nil"},
		"no URL":           {api, "", nil, "the URL is empty"},
		"a name":           {api, "charge-dlq", nil, `"charge-dlq"`},
		"an ARN":           {api, chargeARN, nil, chargeARN},
		"an endpoint":      {api, "https://sqs.eu-central-1.amazonaws.com/", nil, "names no queue"},
		"small messages":   {api, standardURL, &dlq.Options{MaxMessageBytes: 1023}, "MaxMessageBytes is 1023, want"},
		"large messages":   {api, standardURL, &dlq.Options{MaxMessageBytes: 1<<20 + 1}, "to 1048576"},
		"less than a call": {api, standardURL, &dlq.Options{Concurrency: -1}, "Concurrency is -1, want at least 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := dlq.NewSender(tt.api, tt.url, tt.o)
			if s != nil || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("sender %v, error %v; want one that says %s", s, err, tt.says)
			}
		})
	}
}

func TestSendAnswersForEachLetter(t *testing.T) {
	t.Parallel()
	down := errors.New("dial tcp: connection refused")
	type refusals = map[string]types.BatchResultErrorEntry
	internal := types.BatchResultErrorEntry{Code: aws.String("InternalError"), Message: aws.String("try later")}
	refusal := &queue.EntryError{Code: "InternalError", Message: "try later"}
	tests := map[string]struct {
		api  *fakeQueue
		n    int
		want map[int]error
	}{
		"no letters":   {api: &fakeQueue{}, n: 0},
		"all arrive":   {api: &fakeQueue{}, n: 25},
		"one refused":  {&fakeQueue{refuse: refusals{"3": internal}}, 5, map[int]error{3: refusal}},
		"no message":   {&fakeQueue{refuse: refusals{"13": {}}}, 15, map[int]error{13: &queue.EntryError{}}},
		"one silent":   {&fakeQueue{silent: map[string]bool{"0": true}}, 3, map[int]error{0: handler.ErrUnanswered}},
		"both answers": {&fakeQueue{contradict: map[string]bool{"1": true}}, 3, map[int]error{1: &queue.EntryError{}}},
		"a call fails": {&fakeQueue{callErr: map[string]error{"11": down}}, 12, map[int]error{10: down, 11: down}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				arrived := map[string]bool{}
				for i, l := range send(t.Context(), t, tt.api, standardURL, nil, letters(tt.n)...) {
					if want := tt.want[i]; !sameError(l.Err, want) {
						t.Errorf("letter %d: error %v, want %v", i, l.Err, want)
					}
					if (l.DeadLetterID == "") != (l.Err != nil) || arrived[l.DeadLetterID] && l.Err == nil {
						t.Errorf("letter %d: id %q with error %v", i, l.DeadLetterID, l.Err)
					}
					arrived[l.DeadLetterID] = true
				}
			})
		})
	}
}

func sameError(got, want error) bool {
	var a, b *queue.EntryError
	if errors.As(got, &a) && errors.As(want, &b) {
		return *a == *b
	}
	return errors.Is(got, want)
}

func TestAnswersAreMatchedByID(t *testing.T) {
	t.Parallel()
	api := &fakeQueue{}
	for i, l := range send(t.Context(), t, api, standardURL, nil, letters(10)...) {
		if want := fmt.Sprintf("dlq-1-%d", i); l.DeadLetterID != want {
			t.Errorf("letter %d got the id %s, want %s", i, l.DeadLetterID, want)
		}
	}
}

func TestPacksByBytes(t *testing.T) {
	t.Parallel()
	const half = 1 << 19
	var ls []handler.Letter
	for i, n := range []int{half - 2048, half - 2048, half, 1 << 20, 1, 1} {
		ls = append(ls, letterOf(message(fmt.Sprint("m-", i), strings.Repeat("x", n), nil)))
	}
	api := &fakeQueue{}
	o := &dlq.Options{Concurrency: 1, Logger: quiet.Logger}
	for i, l := range send(t.Context(), t, api, standardURL, o, ls...) {
		if err := l.Answer(); err != nil {
			t.Errorf("letter %d: %v", i, err)
		}
	}
	var got []int
	for _, call := range api.calls {
		got = append(got, len(call))
	}
	if diff := cmp.Diff([]int{2, 1, 1, 2}, got); diff != "" {
		t.Errorf("entries of each call differ (-want +got):\n%s", diff)
	}
}

func TestALetterTooLargeHarmsNoOther(t *testing.T) {
	t.Parallel()
	large := letterOf(message("m-1", strings.Repeat("x", 1<<20+1), nil))
	ls := []handler.Letter{letters(1)[0], large, letters(1)[0]}
	sent := send(t.Context(), t, &fakeQueue{}, standardURL, quiet, ls...)
	if sent[0].Err != nil || sent[1].Err == nil || sent[2].Err != nil {
		t.Errorf("errors %v, %v, %v; want only the second", sent[0].Err, sent[1].Err, sent[2].Err)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		url     string
		options *dlq.Options
		want    int32
	}{
		"by default":         {standardURL, nil, 4},
		"zero":               {standardURL, &dlq.Options{}, 4},
		"two":                {standardURL, &dlq.Options{Concurrency: 2}, 2},
		"FIFO keeps order":   {fifoURL, nil, 1},
		"FIFO, whatever set": {fifoURL, &dlq.Options{Concurrency: 8}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var running, most atomic.Int32
				api := &fakeQueue{entered: func() {
					now := running.Add(1)
					for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
					}
					<-time.After(time.Second)
					running.Add(-1)
				}}
				send(t.Context(), t, api, tt.url, tt.options, letters(95)...)
				if got := most.Load(); got != tt.want {
					t.Errorf("%d calls at a time, want %d", got, tt.want)
				}
				if len(api.arrived) != 95 {
					t.Errorf("%d letters arrived, want 95", len(api.arrived))
				}
			})
		})
	}
}

func TestFIFOLettersArriveInOrder(t *testing.T) {
	t.Parallel()
	api := &fakeQueue{}
	send(t.Context(), t, api, fifoURL, nil, letters(35)...)
	for i, e := range api.arrived {
		if *e.MessageBody != fmt.Sprint(i) {
			t.Fatalf("letter %s came at place %d", *e.MessageBody, i)
		}
	}
}
