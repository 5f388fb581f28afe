package handler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
)

// givesUp is middleware that calls next on another goroutine and returns after five
// seconds at the latest.
func givesUp(next handler.Func) handler.Func {
	return func(ctx context.Context, m *handler.Message) error {
		ended := make(chan error, 1)
		go func() { ended <- next(ctx, m) }()
		select {
		case err := <-ended:
			return err
		case <-time.After(5 * time.Second):
			return errors.New("took too long")
		}
	}
}

// A claim is not given back while the function still runs, though its middleware has
// returned: another delivery would run it too.
func TestAClaimOutlivesMiddlewareThatGaveUp(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		takes time.Duration
		end   string // how the claim ends
	}{
		"in time":            {3 * time.Second, "complete m1"},
		"too late":           {20 * time.Second, "release m1"},
		"not before the cut": {time.Hour, "crash m1"},
	}
	for name, tt := range tests {
		inBubble(t, name, func(t *testing.T) {
			s := newScene()
			s.timeout = time.Minute
			s.options.Middleware = []handler.Middleware{givesUp}
			h := handler.Func(func(context.Context, *handler.Message) error {
				<-time.After(tt.takes)
				s.note("return m1")
				return nil
			})
			ctx, cancel := s.context(t)
			defer cancel()
			start := time.Now()
			func() {
				defer func() { _ = recover() }()
				_, _ = must(handler.NewProcessor(h, s.options)).Handle(ctx, event(record("m1", "x")))
			}()
			if took := time.Since(start); tt.takes < time.Minute && took != tt.takes || ctx.Err() != nil {
				t.Errorf("took %v", took)
			}
			<-time.After(time.Hour)
			synctest.Wait()
			want := []string{"claim m1", "return m1", tt.end}
			if tt.takes > time.Minute {
				want = []string{"claim m1", tt.end, "return m1"}
			}
			if diff := cmp.Diff(want, s.events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// The function does not start when the run of its message is over.
func TestNextRefusesACallAfterTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		var late error
		s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				if m.MessageId == "m2" {
					return next(ctx, m)
				}
				go func() {
					<-time.After(5 * time.Second)
					late = next(context.WithoutCancel(ctx), m)
				}()
				return handler.Defer("later", time.Minute)
			}
		}}
		ids := s.run(t, record("m1", "1s"), record("m2", "20s"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"m1"}, ids); diff != "" || !cmp.Equal([]string{"m2"}, s.runs()) {
			t.Errorf("ran %v, reported (-want +got):\n%s", s.runs(), diff)
		}
		if late == nil || !strings.Contains(fmt.Sprint(late), "when the run of the message was over") {
			t.Errorf("the late call gave %v", late)
		}
	})
}

// A function does not start when its claim was lost meanwhile, though the lease that its
// process knows of has not ended: another delivery has the job.
func TestAFunctionDoesNotStartUnderALostClaim(t *testing.T) {
	t.Parallel()
	for body, where := range map[string]string{"x": "middleware", "suspect": "count"} {
		inBubble(t, where, func(t *testing.T) {
			s := newScene()
			s.ledger.lost = make(chan struct{})
			waits := func(at string) {
				if at == where {
					time.AfterFunc(time.Second, func() { close(s.ledger.lost) })
					<-time.After(2 * time.Second)
				}
			}
			s.ledger.on = func(_ context.Context, call string, _ *handler.Message) { waits(call) }
			s.options.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
				return func(ctx context.Context, m *handler.Message) error {
					waits("middleware")
					return next(ctx, m)
				}
			}}
			ids := s.run(t, record("m1", body))
			if len(s.runs()) > 0 || len(ids) != 1 || s.outcomeOf(t, "m1", "outcome") != "deferred" {
				t.Errorf("ran %v, reported %v, %s", s.runs(), ids, s.outcomeOf(t, "m1", "outcome"))
			}
			s.before(t, "claim m1", "abort m1")
		})
	}
}
