package idem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/idemtest"
)

// ledgered is a queue whose jobs have their keys and steps in store.
func ledgered(store idem.Store, job handler.Func, o handler.Options) handlertest.Queue {
	o.MaxReceives = 20
	ledger, err := idem.New(store, &idem.Options{
		Key: idem.JSONField("id"), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	o.Ledger = ledger
	return handlertest.Queue{Handler: job, Options: o}
}

// parcel is a job of several items, each of which fails as its script says and
// then succeeds.
type parcel struct {
	script map[string][]error
	ran    map[string]int
	keys   []string
}

func (p *parcel) handle(ctx context.Context, m *handler.Message) error {
	var payload struct{ Items []string }
	if err := json.Unmarshal([]byte(m.Content()), &payload); err != nil {
		return err
	}
	return idem.Each(ctx, payload.Items, func(item string) string { return item }, p.run)
}

func (p *parcel) run(ctx context.Context, item string) error {
	if p.ran == nil {
		p.ran = map[string]int{}
	}
	p.ran[item]++
	p.keys = append(p.keys, idem.Key(ctx))
	return at(p.script[item], p.ran[item])
}

// at is the error of the n-th run: the last one is for all that follow.
func at(script []error, n int) error {
	if len(script) == 0 {
		return nil
	}
	return script[min(n, len(script))-1]
}

const threeItems = `{"id":"j-1","items":["a","b/1","c"]}`

var (
	errBusy  = fault.Retryable(errors.New("busy"), fault.WithReason("busy"))
	errNever = fault.Permanent(errors.New("no such photo"), fault.WithReason("no_photo"))
	errOdd   = errors.New("odd")
)

func TestEachItemIsAStepOfItsOwn(t *testing.T) {
	t.Parallel()
	dead, done, retry := handler.OutcomeDead, handler.OutcomeDone, handler.OutcomeRetry
	for name, tt := range map[string]struct {
		script   map[string][]error
		ran      map[string]int
		outcomes []handler.Outcome
		reason   string // of the dead letter
		words    []string
	}{
		"all succeed": {
			ran: map[string]int{"a": 1, "b/1": 1, "c": 1}, outcomes: []handler.Outcome{done},
		},
		"one comes later": {
			script: map[string][]error{"b/1": {errBusy, nil}},
			ran:    map[string]int{"a": 1, "b/1": 2, "c": 1}, outcomes: []handler.Outcome{retry, done},
		},
		"one never, one later": {
			script: map[string][]error{"a": {errNever}, "b/1": {errBusy, errBusy, nil}},
			ran:    map[string]int{"a": 3, "b/1": 3, "c": 1}, outcomes: []handler.Outcome{retry, retry, dead},
			reason: "no_photo", words: []string{`1 of 3 items failed: "a" (permanent): no such photo`},
		},
		"one never, one nobody knows": {
			script: map[string][]error{"a": {errNever}, "c": {errOdd}},
			ran:    map[string]int{"a": 3, "b/1": 1, "c": 3}, outcomes: []handler.Outcome{retry, retry, dead},
			reason: fault.ReasonUnclassified,
			words:  []string{`2 of 3 items failed: "a" (permanent): no such photo; "c": odd`},
		},
		"one nobody knows, one later": {
			script: map[string][]error{"a": {errOdd}, "c": {errBusy, nil}},
			ran:    map[string]int{"a": 4, "b/1": 1, "c": 2}, outcomes: []handler.Outcome{retry, retry, retry, dead},
			reason: fault.ReasonUnclassified,
		},
		"nothing but never": {
			script: map[string][]error{"a": {errNever}, "c": {errNever}},
			ran:    map[string]int{"a": 1, "b/1": 1, "c": 1}, outcomes: []handler.Outcome{dead},
			reason: "no_photo", words: []string{"2 of 3 items failed"},
		},
		"later and later": {
			script: map[string][]error{"b/1": {errBusy}},
			ran:    map[string]int{"a": 1, "b/1": 5, "c": 1}, outcomes: []handler.Outcome{retry, retry, retry, retry, dead},
			reason: handler.ReasonExhausted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &parcel{script: tt.script}
			o := handler.Options{Backoff: backoff.Exponential{MaxAttempts: 5}}
			report := ledgered(idem.NewMemory(), p.handle, o).Run(t, handlertest.Message{Body: threeItems})
			report.RequireOutcomes(t, "m1", tt.outcomes...)
			if diff := cmp.Diff(tt.ran, p.ran); diff != "" {
				t.Errorf("runs of the items (-want +got):\n%s", diff)
			}
			if tt.reason == "" {
				return
			}
			f := report.RequireDeadLetter(t, "m1", tt.reason).Failure
			for _, word := range tt.words {
				if !strings.Contains(f.Message, word) {
					t.Errorf("the dead letter says %q, want %q in it", f.Message, word)
				}
			}
		})
	}
}

func TestAReplayRunsTheItemsThatAreLeft(t *testing.T) {
	t.Parallel()
	store := idem.NewMemory()
	p := &parcel{script: map[string][]error{"a": {errNever, nil}}}
	q := ledgered(store, p.handle, handler.Options{})
	letter := q.Run(t, handlertest.Message{Body: threeItems}).RequireDeadLetter(t, "m1", "no_photo")
	replayed := handlertest.Replayed(letter)
	q.Run(t, replayed).RequireOutcomes(t, replayed.ID, handler.OutcomeDone)
	if diff := cmp.Diff(map[string]int{"a": 2, "b/1": 1, "c": 1}, p.ran); diff != "" {
		t.Errorf("runs of the items (-want +got):\n%s", diff)
	}
	want := []string{"j-1#a", "j-1#" + idem.RecordedName("b/1"), "j-1#c", "j-1#a"}
	if diff := cmp.Diff(want, p.keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestItemsAreClassifiedAsTheProcessorDoes(t *testing.T) {
	t.Parallel()
	missing := &fault.HTTPError{Status: 404}
	p := &parcel{script: map[string][]error{"a": {missing, missing, nil}, "c": {errNever}}}
	o := handler.Options{Classifier: fault.Rules().Override("http.404", fault.ClassRetryable)}
	report := ledgered(idem.NewMemory(), p.handle, o).Run(t, handlertest.Message{Body: threeItems})
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeRetry, handler.OutcomeDead)
}

func TestTheLongestDelayThatItemsAskForCounts(t *testing.T) {
	t.Parallel()
	p := &parcel{script: map[string][]error{
		"a":   {fault.RetryAfter(100*time.Second, errOdd), nil},
		"b/1": {fault.RetryAfter(200*time.Second, errOdd), nil},
	}}
	report := ledgered(idem.NewMemory(), p.handle, handler.Options{}).Run(t, handlertest.Message{Body: threeItems})
	if d := report.Job("m1").Deliveries[0].Delay; d < 200*time.Second {
		t.Errorf("the job comes back after %v, want 200 s and more", d)
	}
}

func TestItemsNeedNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body  string
		ran   map[string]int
		words string
	}{
		"twice": {
			`{"id":"j-1","items":["a","b","a"]}`, map[string]int{"a": 1, "b": 1},
			`1 of 3 items failed: "a": idem: step "a": an item before it has the same name`,
		},
		"none": {
			`{"id":"j-1","items":["a","","c"]}`, map[string]int{"a": 1, "c": 1}, `1 of 3 items failed: "": idem: step ""`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &parcel{}
			report := ledgered(idem.NewMemory(), p.handle, handler.Options{}).Run(t, handlertest.Message{Body: tt.body})
			f := report.RequireDeadLetter(t, "m1", fault.ReasonUnclassified).Failure
			if !strings.Contains(f.Message, tt.words) || !slices.Contains(f.Types, "*idem.StepError") {
				t.Errorf("the dead letter says %q, with the types %v", f.Message, f.Types)
			}
			if diff := cmp.Diff(tt.ran, p.ran); diff != "" {
				t.Errorf("runs of the items (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachNeedsAJob(t *testing.T) {
	t.Parallel()
	p := &parcel{}
	err := idem.Each(t.Context(), []string{"a", "b"}, strings.ToLower, p.run)
	misused(t, err, `step "a"`, "idem.Ledger")
	if err := idem.Each(t.Context(), nil, strings.ToLower, p.run); err != nil || len(p.ran) > 0 {
		t.Errorf("no items: %v; %v ran", err, p.ran)
	}
}

// deliverItems delivers a job of the items through the harness.
func (p *parcel) deliverItems(h *harness, items ...string) *handler.Result {
	h.Helper()
	h.job = func(ctx context.Context, _ *handler.Message) error {
		return idem.Each(ctx, items, strings.Clone, p.run)
	}
	return h.deliver(message("m1", "a"))
}

func many(n int, format string) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i)
	}
	return items
}

func TestWhatHasNoRoomIsNotBegun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		items []string
		room  bool
	}{
		"short names":           {many(3276, "%07d"), true},
		"a short name too many": {many(3277, "%07d"), false},
		"long names":            {many(682, "photos/%d/"+strings.Repeat("x", 80)), true},
		"a long name too many":  {many(683, "photos/%d/"+strings.Repeat("x", 80)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepped(t, func(h *harness) {
				ran := 0
				h.job = func(ctx context.Context, _ *handler.Message) error {
					return idem.Each(ctx, tt.items, strings.Clone, func(context.Context, string) error { ran++; return errBusy })
				}
				r := h.deliver(message("m1", "a"))
				if tt.room {
					if h.want(r, handler.OutcomeRetry, "busy", 1); ran != len(tt.items) {
						h.Errorf("%d of %d items ran", ran, len(tt.items))
					}
					return
				}
				if misused(h.T, r.Err, "room for 49152", "send fewer in a message"); ran > 0 {
					h.Errorf("%d items ran", ran)
				}
			})
		})
	}
}

func TestItemsThatAreDoneTakeNoMoreRoomAndOneLine(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		items := many(300, "%03d-"+strings.Repeat("x", 60)) // 64 bytes: with 8 more each, half of the room
		p := &parcel{script: map[string][]error{items[0]: {errBusy, nil}}}
		h.want(p.deliverItems(h, items...), handler.OutcomeRetry, "busy", 1)
		pass(time.Hour)
		lines := h.logs()
		h.want(p.deliverItems(h, append(items, many(300, "%03d+"+strings.Repeat("x", 60))...)...), handler.OutcomeDone, "", 2)
		if !strings.Contains(lines.String(), `"items done before"`) || !strings.Contains(lines.String(), `"items":299`) ||
			strings.Count(lines.String(), "\n") != 1 {
			h.Errorf("log %.500q, want one line of 299 items", lines)
		}
	})
}

func TestTheTextNamesTenItems(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		p := &parcel{script: map[string][]error{}}
		items := many(12, "%02d")
		for _, item := range items {
			p.script[item] = []error{errors.New(strings.Repeat("x", 5000))}
		}
		r := p.deliverItems(h, items...)
		h.want(r, handler.OutcomeRetry, fault.ReasonUnclassified, 1)
		text := r.Err.Error()
		if len(text) > 4000 || !strings.Contains(text, `12 of 12 items failed: "00": x`) ||
			!strings.HasSuffix(text, "; and 2 more") {
			h.Errorf("the text has %d bytes: %s", len(text), text)
		}
	})
}

func TestItemsThatCannotBeRecordedEndTheJob(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		unknown bool
		outcome handler.Outcome
		reason  string
	}{
		"comes back at no cost": {false, handler.OutcomeRetry, fault.ReasonStore},
		"is for a person":       {true, handler.OutcomeDead, idem.ReasonUnknownOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stepped(t, func(h *harness) {
				h.options.DeadLetterUnknown = tt.unknown
				p := &parcel{script: map[string][]error{"a": {errNever}, "b": {errBusy}}}
				h.broken(idemtest.CallStep)
				r := p.deliverItems(h, "a", "b", "c", "d")
				h.want(r, tt.outcome, tt.reason, 1)
				if p.ran["d"] != 0 || !strings.Contains(r.Err.Error(), `before that, 2 of 4 items failed: "a" (permanent)`) {
					h.Errorf("%v ran; error %v", p.ran, r.Err)
				}
			})
		})
	}
}

func TestWithTheTimeOfTheJobEachEnds(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		var cancel context.CancelFunc
		items := []string{"a", "b", "c"}
		p := &parcel{script: map[string][]error{"a": {errNever}}}
		h.job = func(ctx context.Context, _ *handler.Message) error {
			ctx, cancel = context.WithCancel(ctx)
			err := idem.Each(ctx, items, strings.Clone, func(ctx context.Context, item string) error {
				if item == "b" {
					cancel()
					return fault.Permanent(ctx.Err())
				}
				return p.run(ctx, item)
			})
			if !errors.Is(err, context.Canceled) || fault.Tagged(err) || p.ran["c"] != 0 {
				h.Errorf("error %v after %v; want that of the context, and c not to run", err, p.ran)
			}
			return errTimeout
		}
		h.deliver(message("m1", "a"))
	})
}
