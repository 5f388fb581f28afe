package handlertest_test

// What docs/testing.md shows beside what is in example_test.go;
// TestTheManualShowsWhatRunsHere holds page and code together.

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

func TestChargeOfNothing(t *testing.T) {
	t.Parallel()
	err := charge(t.Context(), Charge{ID: "ch-1"})
	if d := fault.Rules().Classify(t.Context(), err); d.Class != fault.ClassPermanent {
		t.Errorf("%v is %s, want permanent", err, d.Class)
	}
}

func TestHelloIsDeadLettered(t *testing.T) {
	t.Parallel()
	q := handlertest.Queue{Handler: handler.JSON(charge)}
	report := q.Invoke(t, handlertest.Message{Body: "hello"}, handlertest.Message{Body: `{"id": "ch-2", "amount": 1}`})
	letter := report.RequireDeadLetter(t, "m1", fault.ReasonDecode)
	t.Log(letter.Failure.Message)
	report.RequireOutcomes(t, "m2", handler.OutcomeDone)
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

func TestEveryAttemptHasTheKey(t *testing.T) {
	t.Parallel()
	fake := &provider{statuses: []int{http.StatusServiceUnavailable, http.StatusCreated}}
	client := &http.Client{Transport: idem.Transport{Base: fake}}
	charge := func(ctx context.Context, _ Charge) error {
		const url = "https://provider.example/charges"
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
	once, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		t.Fatal(err)
	}
	q := handlertest.Queue{Handler: handler.JSON(charge), Options: handler.Options{Ledger: once}}
	report := q.Run(t, handlertest.Message{Body: `{"id": "ch-1", "amount": 1250}`})
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone)
	if !slices.Equal(fake.keys, []string{"jobs#ch-1", "jobs#ch-1"}) {
		t.Errorf("keys %q, want jobs#ch-1 twice", fake.keys)
	}
}

func TestChargesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := time.NewTicker(time.Second) // in here, as it is a channel and a timer
		defer turns.Stop()
		charge := func(context.Context, Charge) error { <-turns.C; return nil }
		q := handlertest.Queue{Handler: handler.JSON(charge)}
		began := time.Now()
		report := q.Run(t, handlertest.Message{Body: `{"id": "ch-1"}`}, handlertest.Message{Body: `{"id": "ch-2"}`})
		report.RequireOutcomes(t, "m2", handler.OutcomeDone)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("two charges took %v, want 2 s", took)
		}
	})
}

func TestAGroupKeepsItsOrder(t *testing.T) {
	t.Parallel()
	locked := true
	reserve := handler.Func(func(_ context.Context, m *handler.Message) error {
		if m.MessageId == "a1" && locked {
			locked = false
			return fault.Retryable(errors.New("stock is locked"))
		}
		return nil
	})
	q := handlertest.Queue{Name: "stock.fifo", Handler: reserve}
	report := q.Run(t,
		handlertest.Message{ID: "a1", Group: "a"},
		handlertest.Message{ID: "b1", Group: "b"},
		handlertest.Message{ID: "a2", Group: "a"},
	)
	report.RequireRunOrder(t, "a1", "b1", "a1", "a2")
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
	once, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")}) // without it there is no key
	if err != nil {
		t.Fatal(err)
	}
	q := handlertest.Queue{Handler: handler.JSON(charge), Options: handler.Options{Ledger: once}}
	report := q.Run(t, handlertest.Message{Body: `{"id": "ch-1", "amount": 1250}`})
	report.RequireOutcomes(t, "m1", handler.OutcomeNone, handler.OutcomeDone) // none: it was killed
	report.RequireRuns(t, "m1", 2)
	if len(charged) != 1 || charged["ch-1"] != 1250 {
		t.Errorf("charged %v, want 1250 once, as ch-1", charged)
	}
}

func TestADeadLetterQueueThatRefusesTwice(t *testing.T) {
	t.Parallel()
	refusals := 2
	dead := &handlertest.DeadLetterQueue{Fail: func(handler.Letter) error {
		if refusals == 0 {
			return nil
		}
		refusals--
		return errors.New("access denied")
	}}
	q := handlertest.Queue{Handler: handler.JSON(charge), Options: handler.Options{DeadLetter: dead}}
	report := q.Run(t, handlertest.Message{Body: "hello"})
	report.RequireDeadLetter(t, "m1", fault.ReasonDecode)
	report.RequireOutcomes(t, "m1", handler.OutcomeDead, handler.OutcomeDead, handler.OutcomeDead)
}
