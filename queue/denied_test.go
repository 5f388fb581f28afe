package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/queue"
)

const notifyARN = "arn:aws:sqs:eu-central-1:123456789012:notify"

// refusal is what the SDK says of a call that the role may not make.
func refusal(code string) error {
	return fmt.Errorf("operation error SQS: %w", &smithy.GenericAPIError{Code: code, Message: "is not authorized"})
}

// denying is a source whose role may not change messages with the receipt m-0.
type denying struct {
	api    *fakeSQS
	source *queue.Client
	log    strings.Builder
}

func newDenying(t *testing.T, err error) *denying {
	d := &denying{api: &fakeSQS{fakeAnswers: fakeAnswers{callErr: map[string]error{"m-0": err}}}}
	o := &queue.Options{Logger: slog.New(slog.NewTextHandler(&d.log, nil)), Concurrency: 1}
	d.source = newClient(t, d.api, o)
	return d
}

// change asks for ms and gives the answers.
func (d *denying) change(ctx context.Context, ms []*handler.Message) []error {
	return hide(ctx, d.source, time.Minute, ms...)
}

// wantDenied demands the same denial for n messages.
func wantDenied(t *testing.T, errs []error, n int) {
	t.Helper()
	if len(errs) != n {
		t.Fatalf("%d answers, want %d", len(errs), n)
	}
	for i, err := range errs {
		api, ok := errors.AsType[smithy.APIError](err)
		if !errors.Is(err, queue.ErrDenied) || !ok || api.ErrorCode() != "AccessDenied" || !errors.Is(err, errs[0]) {
			t.Errorf("answer %d: %v, want a denial with what SQS said", i, err)
		}
	}
}

func TestTwoDenialsCountForAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDenying(t, refusal("AccessDenied"))
		ms := messages(chargeARN, "m", 10)
		wantDenied(t, d.change(t.Context(), ms), 10)
		wantDenied(t, d.change(t.Context(), ms), 10)
		<-time.After(time.Minute - 1)
		more := messages(chargeARN, "more", 25)
		wantDenied(t, d.change(t.Context(), more), 25)
		if got := len(d.api.calls); got != 2 {
			t.Errorf("%d calls in the minute of the denial, want 2", got)
		}
		<-time.After(1)
		wantDenied(t, d.change(t.Context(), append(ms, more...)), 35)
		if got := len(d.api.calls); got != 3 {
			t.Errorf("%d calls after a minute, want 3", got)
		}
		<-time.After(time.Minute)
		d.api.callErr = nil
		if err := errors.Join(d.change(t.Context(), ms)...); err != nil {
			t.Errorf("after the right was granted: %v", err)
		}
	})
}

// A role that is just being changed denies all calls of a moment: those of one
// round, be they side by side or one after the other, and those of rounds that
// overlap.
func TestDenialsOfOneMomentCountOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ rounds, messages, concurrency int }{
		"one call":                {1, 10, 4},
		"calls of a round":        {1, 95, 4},
		"calls one after another": {1, 95, 1},
		"rounds side by side":     {3, 10, 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api := &fakeSQS{
					fakeAnswers: fakeAnswers{callErr: map[string]error{"": refusal("AccessDenied")}},
					entered:     func() { <-time.After(time.Second) },
				}
				c := newClient(t, api, &queue.Options{Concurrency: tt.concurrency, Logger: slog.New(slog.DiscardHandler)})
				var running sync.WaitGroup
				for range tt.rounds {
					running.Go(func() {
						for _, err := range hide(t.Context(), c, time.Minute, messages(chargeARN, "m", tt.messages)...) {
							if !errors.Is(err, queue.ErrDenied) {
								t.Errorf("error %v, want a denial", err)
							}
						}
					})
				}
				running.Wait()
				if want := tt.rounds * ((tt.messages + 9) / 10); len(api.calls) < want {
					t.Errorf("%d calls, want %d", len(api.calls), want)
				}
				api.callErr = nil
				if err := errors.Join(hide(t.Context(), c, time.Minute, messages(chargeARN, "m", 1)...)...); err != nil {
					t.Errorf("after the moment: %v", err)
				}
			})
		})
	}
}

func TestADenialBetweenSuccessesIsNotBelieved(t *testing.T) {
	t.Parallel()
	d := newDenying(t, refusal("AccessDenied"))
	denied, taken := messages(chargeARN, "m", 1), messages(chargeARN, "n", 1)
	for range 3 {
		wantDenied(t, d.change(t.Context(), denied), 1)
		if err := d.change(t.Context(), taken)[0]; err != nil {
			t.Fatalf("after a single denial: %v", err)
		}
	}
}

func TestADenialIsLoggedOnceForAQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDenying(t, refusal("AccessDenied"))
		for range 3 {
			d.change(t.Context(), messages(chargeARN, "m", 12))
			<-time.After(2 * time.Minute)
		}
		d.change(t.Context(), messages(notifyARN, "m", 1))
		lines := strings.Split(strings.TrimSpace(d.log.String()), "\n")
		if len(lines) != 2 {
			t.Fatalf("%d lines, want one for each queue:\n%s", len(lines), d.log.String())
		}
		for i, name := range []string{"/charge", "/notify"} {
			for _, words := range []string{
				"level=WARN", name, "is not authorized", "grant sqs:ChangeMessageVisibility on the queue; " +
					"until then failed messages come back after the queue's visibility timeout",
			} {
				if !strings.Contains(lines[i], words) {
					t.Errorf("line %d is %q, want %q in it", i, lines[i], words)
				}
			}
		}
	})
}

// It sets the default logger, so it does not run beside others.
func TestCallsAtATimeThatAreDeniedGiveOneLineOfTheDefaultLogger(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var lines strings.Builder
	slog.SetDefault(slog.New(slog.NewTextHandler(&lines, nil)))
	ms := messages(chargeARN, "m", 95)
	d := &denying{api: &fakeSQS{fakeAnswers: fakeAnswers{callErr: map[string]error{}}}}
	for _, m := range ms {
		d.api.callErr[m.ReceiptHandle] = refusal("AccessDenied")
	}
	d.source = newClient(t, d.api, nil)
	for i, err := range d.change(t.Context(), ms) {
		if !errors.Is(err, queue.ErrDenied) {
			t.Errorf("answer %d: %v, want a denial", i, err)
		}
	}
	if got := strings.Count(lines.String(), "\n"); got != 1 {
		t.Errorf("%d lines, want 1:\n%s", got, lines.String())
	}
}

func TestADenialHarmsNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDenying(t, refusal("AccessDenied"))
		denied, others := messages(chargeARN, "m", 1), messages(notifyARN, "n", 2)
		got := d.change(t.Context(), append(denied, others...))
		wantDenied(t, got[:1], 1)
		if err := errors.Join(got[1:]...); err != nil {
			t.Errorf("messages of another queue: %v", err)
		}
		if err := errors.Join(remove(t.Context(), d.source, messages(chargeARN, "d", 2)...)...); err != nil {
			t.Errorf("deleting from the queue: %v", err)
		}
	})
}

func TestOnlyADenialIsKept(t *testing.T) {
	t.Parallel()
	for code, kept := range map[string]bool{
		"AccessDenied": true, "AccessDeniedException": true,
		"KmsAccessDenied": false, "RequestThrottled": false, "ReceiptHandleIsInvalid": false,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			d := newDenying(t, refusal(code))
			var denied []bool
			for range 3 {
				denied = append(denied, errors.Is(d.change(t.Context(), messages(chargeARN, "m", 1))[0], queue.ErrDenied))
			}
			if diff := cmp.Diff([]bool{kept, kept, kept}, denied); diff != "" {
				t.Errorf("denied (-want +got):\n%s", diff)
			}
			if asked := len(d.api.calls) == 3; asked == kept || (d.log.Len() > 0) != kept {
				t.Errorf("%d calls, log %q", len(d.api.calls), d.log.String())
			}
		})
	}
}
