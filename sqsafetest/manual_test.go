package sqsafetest_test

// What docs/testing.md shows beside what is in example_test.go; a test of package
// handlertest holds page and code together.

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/sqsafetest"
)

func TestChargeOnce(t *testing.T) {
	t.Parallel()
	answers := []error{fault.Retryable(errors.New("busy")), nil}
	charge := func(context.Context, Charge) (err error) { err, answers = answers[0], answers[1:]; return err }
	q := sqsafetest.NewQueue(t, env, charge, options...)
	job := sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250})
	job.Copies = []time.Duration{time.Minute}
	report := q.Run(t, job)
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone, handler.OutcomeDuplicate)
}

func TestCharges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		job    handlertest.Message
		want   handler.Outcome
		reason string
	}{
		"a charge":       {sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}), handler.OutcomeDone, ""},
		"nothing to pay": {sqsafetest.JSON(Charge{ID: "ch-1"}), handler.OutcomeDead, fault.ReasonValidation},
		"too much":       {sqsafetest.JSON(Charge{ID: "ch-1", Amount: 100_001}), handler.OutcomeDead, "over_limit"},
		"no id":          {handlertest.Message{Body: `{"amount": 1}`}, handler.OutcomeDead, idem.ReasonMissingKey},
		"no JSON":        {handlertest.Message{Body: "hello"}, handler.OutcomeDead, fault.ReasonDecode},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := sqsafetest.NewQueue(t, env, charge, options...).Run(t, tt.job)
			report.RequireOutcomes(t, "m1", tt.want)
			report.RequireReason(t, "m1", tt.reason)
		})
	}
}

func TestALetterIsReplayed(t *testing.T) {
	t.Parallel()
	closed := true
	charge := func(context.Context, Charge) error {
		if closed {
			return fault.Permanent(errors.New("the account is closed"), fault.WithReason("closed"))
		}
		return nil
	}
	q := sqsafetest.NewQueue(t, env, charge, options...)
	letter := q.Run(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250})).RequireDeadLetter(t, "m1", "closed")
	if f := letter.Failure; f.Key != "ch-1" || f.Message != "the account is closed" || f.Runs() != 1 {
		t.Errorf("the letter says %q of %q after %d runs", f.Message, f.Key, f.Runs())
	}
	closed = false
	q.Run(t, handlertest.Replayed(letter)).RequireOutcomes(t, "m1-replay", handler.OutcomeDone)
}

func TestChargeOverTheLimit(t *testing.T) {
	t.Parallel()
	err := charge(t.Context(), Charge{ID: "ch-1", Amount: 100_001})
	if d := fault.Rules().Classify(t.Context(), err); d.Class != fault.ClassPermanent {
		t.Errorf("%v is %s, want permanent", err, d.Class)
	}
}

func TestChargesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := time.NewTicker(time.Second) // in here, as it is a channel and a timer
		defer turns.Stop()
		charge := func(context.Context, Charge) error { <-turns.C; return nil }
		q := sqsafetest.NewQueue(t, env, charge, options...)
		began := time.Now()
		report := q.Run(t, sqsafetest.JSON(Charge{"ch-1", 1250}), sqsafetest.JSON(Charge{"ch-2", 1250}))
		report.RequireOutcomes(t, "m2", handler.OutcomeDone)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("two charges took %v, want 2 s", took)
		}
	})
}

// provider answers each request with the next status, and keeps the keys.
type provider struct {
	statuses []int
	keys     []string
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	p.keys = append(p.keys, r.Header.Get("Idempotency-Key"))
	status := p.statuses[0]
	p.statuses = p.statuses[1:]
	return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
}

// chargeAt asks a provider for a charge.
func chargeAt(url string, client *http.Client) func(context.Context, Charge) error {
	return func(ctx context.Context, _ Charge) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		return fault.CheckResponse(response)
	}
}

func TestEveryAttemptHasTheKey(t *testing.T) {
	t.Parallel()
	fake := &provider{statuses: []int{http.StatusServiceUnavailable, http.StatusCreated}}
	client := &http.Client{Transport: idem.Transport{Base: fake}}
	q := sqsafetest.NewQueue(t, env, chargeAt("https://provider.example/charges", client), options...)
	report := q.Run(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}))
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone)
	if !slices.Equal(fake.keys, []string{"jobs#ch-1", "jobs#ch-1"}) {
		t.Errorf("keys %q, want jobs#ch-1 twice", fake.keys)
	}
}

func TestAProviderThatRefuses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}))
	defer server.Close()
	q := sqsafetest.NewQueue(t, env, chargeAt(server.URL, server.Client()), options...)
	report := q.RunRealTime(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}))
	report.RequireDeadLetter(t, "m1", fault.ReasonRejected)
}

func TestAGroupKeepsItsOrder(t *testing.T) {
	t.Parallel()
	locked := true
	charge := func(_ context.Context, c Charge) error {
		if c.ID == "a1" && locked {
			locked = false
			return fault.Retryable(errors.New("the account is locked"))
		}
		return nil
	}
	q := sqsafetest.NewQueue(t, env, charge, options...)
	q.Name = "charges.fifo"
	report := q.Run(t, inGroup("a", "a1"), inGroup("b", "b1"), inGroup("a", "a2"))
	report.RequireRunOrder(t, "a1", "b1", "a1", "a2")
}

// inGroup is a charge in a message group; the message has the id of the charge.
func inGroup(group, id string) handlertest.Message {
	m := sqsafetest.JSON(Charge{ID: id, Amount: 1250})
	m.ID, m.Group = id, group
	return m
}

func TestAKillAfterTheEffect(t *testing.T) {
	t.Parallel()
	charged := map[string]int64{} // what a provider who knows the key has taken, by key
	charge := func(ctx context.Context, c Charge) error {
		charged[idem.Key(ctx)] = c.Amount
		if handler.FromContext(ctx).ReceiveCount() == 1 {
			handlertest.Kill(ctx)
		}
		return nil
	}
	q := sqsafetest.NewQueue(t, env, charge, options...)
	report := q.Run(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}))
	report.RequireOutcomes(t, "m1", handler.OutcomeNone, handler.OutcomeDone) // none: it was killed
	report.RequireRuns(t, "m1", 2)
	if len(charged) != 1 || charged["ch-1"] != 1250 {
		t.Errorf("charged %v, want 1250 once, as ch-1", charged)
	}
}

func TestADeadLetterQueueThatRefusesTwice(t *testing.T) {
	t.Parallel()
	refusals := 2
	q := sqsafetest.NewQueue(t, env, charge, options...)
	q.Options.DeadLetter = &handlertest.DeadLetterQueue{Fail: func(handler.Letter) error {
		if refusals == 0 {
			return nil
		}
		refusals--
		return errors.New("access denied")
	}}
	report := q.Run(t, handlertest.Message{Body: "hello"})
	report.RequireDeadLetter(t, "m1", fault.ReasonDecode)
	report.RequireOutcomes(t, "m1", handler.OutcomeDead, handler.OutcomeDead, handler.OutcomeDead)
}

func TestATableThatIsThrottledOnce(t *testing.T) {
	t.Parallel()
	q := sqsafetest.NewQueue(t, env, charge, options...)
	throttled := errors.New("throttled")
	q.FailStore = func() (err error) { err, throttled = throttled, nil; return err }
	report := q.Run(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}))
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone)
	report.RequireRuns(t, "m1", 1)
}
