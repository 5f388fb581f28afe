package eventsource_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/eventsource"
)

func TestBatchesAreGatheredInTheWindow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		size     int
		window   time.Duration
		arrivals [][]arrival
		want     []string
	}{
		"without a window a receive is a batch": {
			arrivals: [][]arrival{at(0, 1, 2), at(time.Second, 3, 3)},
			want:     []string{"received m1 m2", "received m3"},
		},
		"smaller batch size": {
			size:     2,
			arrivals: [][]arrival{at(0, 1, 3)},
			want:     []string{"received m1 m2", "received m3"},
		},
		"the window ends the batch": {
			size: 10, window: 2 * time.Second,
			arrivals: [][]arrival{at(0, 1, 1), at(time.Second, 2, 2), at(1500*time.Millisecond, 3, 3), at(4*time.Second, 4, 4)},
			want:     []string{"received m1 m2 m3", "received m4"},
		},
		"the size ends the batch": {
			size: 3, window: time.Minute,
			arrivals: [][]arrival{at(0, 1, 1), at(30*time.Second, 2, 4)},
			want:     []string{"received m1 m2 m3", "received m4"},
		},
		"more than one receive brings": {
			size: 12, window: time.Second,
			arrivals: [][]arrival{at(0, 1, 13)},
			want:     []string{"received " + strings.Join(numbered(1, 12), " "), "received m13"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := mapping()
				m.BatchSize, m.Window = test.size, test.window
				q := newQueue()
				for _, a := range test.arrivals {
					q.arrivals = append(q.arrivals, a...)
				}
				var got []string
				for _, line := range run(t, m, q, answers("{}"), 5*time.Minute).lines() {
					if strings.HasPrefix(line, "received") {
						got = append(got, line)
					}
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestReceivesAreLongPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mapping()
		m.BatchSize, m.Window = 12, 3*time.Second
		q := newQueue(append(at(5*time.Second, 1, 10), at(6500*time.Millisecond, 11, 11)...)...)
		run(t, m, q, answers("{}"), 30*time.Second)
		want := []receive{
			{At: 0, Most: 10, Wait: 20, Got: 10},
			{At: 5 * time.Second, Most: 2, Wait: 3, Got: 1},
			{At: 6500 * time.Millisecond, Most: 1, Wait: 2}, // the rest of the window, rounded up to whole seconds
			{At: 8500 * time.Millisecond, Most: 10, Wait: 20},
			{At: 28500 * time.Millisecond, Most: 10, Wait: 20}, // ends early, with the context
		}
		if diff := cmp.Diff(want, q.receives); diff != "" {
			t.Errorf("receives (-want +got):\n%s", diff)
		}
		in := q.inputs[0]
		if *in.QueueUrl != m.QueueURL || in.MessageAttributeNames[0] != "All" || in.MessageSystemAttributeNames[0] != "All" {
			t.Errorf("receive of %s asks for %q and %q, want all attributes of %s",
				*in.QueueUrl, in.MessageAttributeNames, in.MessageSystemAttributeNames, m.QueueURL)
		}
		if in.VisibilityTimeout != 0 {
			t.Errorf("visibility timeout %d, want the queue's own", in.VisibilityTimeout)
		}
	})
}

func TestReceivesHideMessagesAsTheMappingSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, m := newQueue(at(0, 1, 1)...), mapping()
		m.Visibility = 61 * time.Second
		run(t, m, q, answers("{}"), time.Minute)
		for _, in := range q.inputs {
			if in.VisibilityTimeout != 61 {
				t.Errorf("visibility timeout %d, want 61", in.VisibilityTimeout)
			}
		}
	})
	for _, wrong := range []time.Duration{-time.Second, time.Millisecond, 12*time.Hour + time.Second} {
		m := mapping()
		m.Visibility = wrong
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), "visibility timeout") {
			t.Errorf("%v: error %v", wrong, err)
		}
	}
}

func TestReceiveErrorsPauseLongerEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(append(at(0, 1, 1), at(10*time.Minute, 2, 2)...)...)
		down := errors.New("connection refused")
		for range 7 {
			q.receiveErrors = append(q.receiveErrors, down)
		}
		s := run(t, mapping(), q, answers("{}"), 5*time.Minute)
		var pauses []time.Duration
		for _, e := range s.of(eventsource.ReceiveFailed) {
			if !errors.Is(e.Err, down) {
				t.Errorf("error %v, want %v", e.Err, down)
			}
			pauses = append(pauses, e.Pause/time.Second)
		}
		if diff := cmp.Diff([]time.Duration{1, 2, 4, 8, 16, 30, 30}, pauses); diff != "" {
			t.Errorf("pauses in seconds (-want +got):\n%s", diff)
		}
		if got := q.receives[7].At; got != 91*time.Second || deleted(s) != "m1" {
			t.Errorf("received after %s and deleted %q, want m1 after 1m31s", got, deleted(s))
		}
	})
}

func TestPauseIsResetAfterASuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("connection refused")
		q := newQueue(at(0, 1, 2)...)
		q.receiveErrors = []error{down, down, nil, down}
		s := run(t, mapping(), q, answers("{}"), time.Minute)
		var pauses []time.Duration
		for _, e := range s.of(eventsource.ReceiveFailed) {
			pauses = append(pauses, e.Pause/time.Second)
		}
		if diff := cmp.Diff([]time.Duration{1, 2, 1}, pauses); diff != "" {
			t.Errorf("pauses in seconds (-want +got):\n%s", diff)
		}
	})
}

func TestReceiveErrorInTheWindowKeepsTheReceivedMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mapping()
		m.Window = 5 * time.Second
		q := newQueue(at(0, 1, 1)...)
		q.receiveErrors = []error{nil, errors.New("connection refused")}
		s := run(t, m, q, answers("{}"), time.Minute)
		want := []string{"received m1", "invoked m1", "deleted m1", "receive_failed"}
		if diff := cmp.Diff(want, s.lines()); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
	})
}

func TestRunFinishesARunningBatchAfterItsContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(append(at(0, 1, 2), at(time.Second, 3, 3)...)...)
		begin := time.Now()
		s := run(t, mapping(), q, func(ctx context.Context, _ []byte) ([]byte, error) {
			select {
			case <-time.After(30 * time.Second):
			case <-ctx.Done():
			}
			return []byte(failures("m2")), ctx.Err()
		}, 10*time.Second)
		want := []string{"received m1 m2", "invoked m1 m2", "reported m2", "deleted m1"}
		if diff := cmp.Diff(want, s.lines()); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
		if got := time.Since(begin); got != 30*time.Second || len(q.receives) != 1 {
			t.Errorf("returned after %s and %d receives, want 30 s and 1", got, len(q.receives))
		}
	})
}

func TestRunInvokesAReceivedBatchAfterItsContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mapping()
		m.Window = time.Minute
		begin := time.Now()
		s := run(t, m, newQueue(at(0, 1, 1)...), answers("{}"), 10*time.Second)
		if diff := cmp.Diff([]string{"received m1", "invoked m1", "deleted m1"}, s.lines()); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
		if got := time.Since(begin); got != 10*time.Second {
			t.Errorf("returned after %s, want 10 s", got)
		}
	})
}

func TestConcurrencyIsTheNumberOfRunningBatches(t *testing.T) {
	t.Parallel()
	for concurrency, want := range map[int]int32{0: 2, 1: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			m := mapping()
			m.BatchSize, m.Concurrency = 1, concurrency
			var running, most atomic.Int32
			run(t, m, newQueue(at(0, 1, 9)...), func(context.Context, []byte) ([]byte, error) {
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				<-time.After(time.Second)
				running.Add(-1)
				return nil, nil
			}, time.Minute)
			if most.Load() != want {
				t.Errorf("concurrency %d ran %d batches at a time, want %d", concurrency, most.Load(), want)
			}
		})
	}
}

func TestRunRefusesMappingsThatAWSRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*eventsource.Mapping)
		want   string
	}{
		"no URL":            {func(m *eventsource.Mapping) { m.QueueURL = "" }, "without a queue: set QueueURL"},
		"no ARN":            {func(m *eventsource.Mapping) { m.QueueARN = "" }, m0 + "has no QueueARN"},
		"concurrency":       {func(m *eventsource.Mapping) { m.Concurrency = -1 }, "concurrency -1: use at least 1"},
		"size":              {func(m *eventsource.Mapping) { m.BatchSize = 10_001 }, "batch size 10001: use 1 to 10000"},
		"window":            {func(m *eventsource.Mapping) { m.Window = 301 * time.Second }, "batching window 5m1s: use"},
		"part of a second":  {func(m *eventsource.Mapping) { m.Window = 1500 * time.Millisecond }, "whole seconds"},
		"size needs window": {func(m *eventsource.Mapping) { m.BatchSize = 11 }, "over 10 it needs a batching window"},
		"FIFO size": {func(m *eventsource.Mapping) { m.QueueARN += ".fifo"; m.BatchSize = 11 },
			"batch size 11: a FIFO queue allows at most 10"},
		"filter": {func(m *eventsource.Mapping) { m.Filters = []string{`{"attributes":["a"]}`} },
			standardARN + `: filter pattern: "attributes" cannot be filtered`},
		"filters": {func(m *eventsource.Mapping) { m.Filters = make([]string, 6) },
			"6 filter patterns: Lambda takes at most 5"},
		"FIFO window": {func(m *eventsource.Mapping) { m.QueueARN += ".fifo"; m.Window = time.Second },
			"batching window 1s: a FIFO queue allows none"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mapping()
			test.change(&m)
			err := eventsource.New(nil, nil, m, nil).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

const m0 = "event source mapping of http://queues/123456789012/charges "
