package dynamo_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
)

// step records a step, which is to be taken.
func (l *ledger) step(a idem.Answer, name string, first bool) {
	l.Helper()
	if err := l.store.RecordStep(l.Context(), a.Claim, idem.StepRecord{Name: name, First: first}); err != nil {
		l.Fatalf("step %s: %v", name, err)
	}
}

// step records a step in both stores.
func (p *pair) step(t *rapid.T) {
	c := p.claim(t)
	s := idem.StepRecord{
		Name:   rapid.SampledFrom([]string{"a", "b.c", "d-e_f"}).Draw(t, "name"),
		Result: rapid.SampledFrom([]string{"", `"x"`}).Draw(t, "result"),
		First:  rapid.Bool().Draw(t, "first"),
	}
	p.agree(t, "step", p.memory.RecordStep(p.ledger.Context(), c, s), p.ledger.store.RecordStep(p.ledger.Context(), c, s))
}

func TestAStepCostsOneWrite(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	a := l.acquire(request("o1", now), idem.AnswerAcquired)
	for _, c := range []struct {
		what string
		want int
		do   func()
	}{
		{"the first", 1, func() { l.step(a, "reserve", true) }},
		{"the second", 1, func() { l.step(a, "charge", false) }},
		{"one again", 1, func() { l.step(a, "charge", false) }},
		{"one that takes itself for the first", 2, func() { l.step(a, "email", true) }},
		{"a takeover", 1, func() { a = l.acquire(request("o2", now.Add(time.Minute)), idem.AnswerAcquired) }},
		{"completion", 1, func() { l.settle(a, complete(now)) }},
	} {
		if got := l.calls(c.do); got != c.want {
			t.Errorf("%s cost %d writes, want %d", c.what, got, c.want)
		}
	}
	l.steps(a.Steps, []string{"charge", "email", "reserve"})
}

// steps demands the names that the table has, and that an owner knows of them.
func (l *ledger) steps(known map[string]string, want []string) {
	l.Helper()
	attribute, ok := l.item()["steps"].(*types.AttributeValueMemberM)
	if !ok {
		l.Fatalf("steps are %v, want a map", l.item()["steps"])
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(attribute.Value))); diff != "" {
		l.Errorf("steps in the table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(known))); diff != "" {
		l.Errorf("steps that the owner knows (-want +got):\n%s", diff)
	}
}

func TestAStepThatIsRecordedMeanwhileIsKnownToTheNextOwner(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		l := newLedger(t)
		first := l.acquire(request("o1", now), idem.AnswerAcquired)
		want := []string{"charge"}
		if before {
			l.step(first, "reserve", true)
			want = append(want, "reserve")
		}
		next := request("o2", now.Add(time.Minute))
		next.Validation = "test2:aaaa" // replaces the item that it has seen
		l.meanwhile(func() { l.step(first, "charge", !before) })
		l.steps(l.acquire(next, idem.AnswerAcquired).Steps, want)
	}
}

func TestTheErrorsOfStepsComeThrough(t *testing.T) {
	t.Parallel()
	errDown := errors.New("no route to host")
	l := newLedger(t)
	a := l.acquire(request("o1", now), idem.AnswerAcquired)
	for _, c := range []struct{ fails, want error }{
		{errDown, errDown},
		{&types.ConditionalCheckFailedException{Item: l.item()}, dynamo.ErrContended},
	} {
		l.fail = func(int) error { return c.fails }
		err := l.store.RecordStep(t.Context(), a.Claim, idem.StepRecord{Name: "charge", First: true})
		demand(t, err, c.want, "step in table ledger")
	}
}

func TestStepsThatCannotBeReadAreNamed(t *testing.T) {
	t.Parallel()
	for _, value := range []types.AttributeValue{
		text("charge"),
		&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"charge": number("1")}},
	} {
		l := newLedger(t)
		l.put(map[string]types.AttributeValue{"steps": value})
		_, err := l.store.Acquire(t.Context(), request("o1", now))
		if err == nil || !strings.Contains(err.Error(), "attribute steps is not a map") {
			t.Errorf("error is %v, want one that names the attribute", err)
		}
	}
}

// TestAJobWithAllThatItMayHaveFits fills verdict, history and steps.
func TestAJobWithAllThatItMayHaveFits(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	a := l.acquire(request("o1", now), idem.AnswerAcquired)
	const steps, room = 12, 48 << 10
	for i := range steps {
		s := idem.StepRecord{Name: fmt.Sprintf("step-%02d", i), First: i == 0}
		s.Result = strings.Repeat("x", room/steps-len(s.Name))
		if err := l.store.RecordStep(t.Context(), a.Claim, s); err != nil {
			t.Fatal(err)
		}
	}
	var history handler.History
	for n := range 18 {
		history = history.Append(handler.Attempt{Number: n, Message: strings.Repeat("x", 3400)})
	}
	l.settle(a, idem.Settlement{
		Kind: idem.SettleVerdict, Lease: now, Expires: now.Add(time.Hour), DeadAt: now, History: history,
		Failure: &handler.Failure{Types: []string{strings.Repeat("x", 255<<10)}},
	})
	if sent := l.acquire(request("o2", now.Add(time.Hour/2)), idem.AnswerSend); sent.Failure == nil {
		t.Fatal("the verdict is gone")
	}
}
