package idemtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// tryStep records a step of a job that has so many others.
func (b *bench) tryStep(a idem.Answer, name, result string, others int) error {
	return b.store.RecordStep(b.Context(), a.Claim, idem.StepRecord{Name: name, Result: result, First: others == 0})
}

// step records a step, which is to be taken.
func (b *bench) step(a idem.Answer, name, result string, others int) {
	b.Helper()
	if err := b.tryStep(a, name, result, others); err != nil {
		b.Fatalf("step %s: %v", name, err)
	}
}

// unstepped records a step that is to be refused.
func (b *bench) unstepped(a idem.Answer, want idem.Status) {
	b.Helper()
	for others := range 2 {
		err := b.tryStep(a, "late", "", others)
		late, ok := errors.AsType[*idem.LateError](err)
		if !ok {
			b.Fatalf("step of a lost claim gave %v, want a LateError", err)
		}
		if late.Status != want || late.ID != a.Claim.ID || late.Kind != idem.SettleStep {
			b.Fatalf("step of a lost claim gave %+v, want status %s", late, want)
		}
	}
}

// charged is what the table has of a job that [bench.charge] has seen.
func charged() map[string]string {
	return map[string]string{"reserve-stock": "", "charge.card": `{"id":"ch_1"}`}
}

// charge takes a job through two of its steps.
func (b *bench) charge(a idem.Answer) {
	b.Helper()
	b.step(a, "reserve-stock", "", 0)
	b.step(a, "charge.card", charged()["charge.card"], 1)
}

// nobody is a claim on a job that the store does not have.
var nobody = idem.Answer{Claim: idem.Claim{ID: "charges#none", Owner: "o"}}

var stepCases = []testCase{
	{"a job begins without steps", func(b *bench) {
		if a := b.claim("m1"); a.Steps != nil {
			b.Fatalf("steps are %v, want none", a.Steps)
		}
	}},
	{"what was done in a run that failed is known to the next", func(b *bench) {
		for _, s := range []idem.Settlement{b.release(0), b.abort(), b.crash(1)} {
			a := b.claim("m1")
			b.charge(a)
			b.settle(a, s)
			b.same("steps", b.claim("m1").Steps, charged())
			b.pass(lease)
		}
	}},
	{"what was done by a process that died is known to the next", func(b *bench) {
		b.charge(b.claim("m1"))
		b.pass(lease)
		b.same("steps", b.claim("m2").Steps, charged())
	}},
	{"a step changes nothing else", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		a := b.claim("m1")
		b.charge(a)
		if busy := b.ask(b.delivery("m2"), idem.AnswerBusy); !busy.Until.Equal(b.now.Add(lease)) {
			b.Fatalf("busy until %v, want %v", busy.Until, b.now.Add(lease))
		}
		b.pass(lease)
		next := b.claim("m1")
		b.counts(next, 2, 1, 0)
		b.same("job", next.Job, a.Job)
	}},
	{"a step that is recorded again stays as it was", func(b *bench) {
		a := b.claim("m1")
		for others := range 3 {
			b.charge(a)
			b.step(a, "charge.card", "another", others)
		}
		b.pass(lease)
		b.same("steps", b.claim("m1").Steps, charged())
	}},
	{"a step is added to others that the caller did not know of", func(b *bench) {
		a := b.claim("m1")
		b.step(a, "reserve-stock", "", 1)
		b.step(a, "charge.card", charged()["charge.card"], 0)
		b.pass(lease)
		b.same("steps", b.claim("m1").Steps, charged())
	}},
	{"of many steps at once all are kept", func(b *bench) {
		a := b.claim("m1")
		want := map[string]string{}
		failures := make(chan error)
		for i := range 10 {
			name, result := fmt.Sprint("step-", i), fmt.Sprint(i)
			want[name] = result
			go func() { failures <- b.tryStep(a, name, result, 0) }()
		}
		for range want {
			if err := <-failures; err != nil {
				b.Errorf("step: %v", err)
			}
		}
		b.pass(lease)
		b.same("steps", b.claim("m1").Steps, want)
	}},
	{"a late finisher records nothing", func(b *bench) {
		stale := b.claim("m1")
		b.pass(lease)
		held := b.claim("m2")
		b.unstepped(stale, idem.StatusInProgress)
		b.settle(held, b.complete())
		b.unstepped(stale, idem.StatusCompleted)
	}},
	{"a settled claim records nothing", func(b *bench) {
		a := b.claim("m1")
		b.settle(a, b.release(0))
		b.unstepped(a, idem.StatusInProgress)
		a = b.claim("m1")
		b.settle(a, b.verdict())
		b.unstepped(a, idem.StatusDead)
	}},
	{"a lapsed claim that nobody took records steps", func(b *bench) {
		a := b.claim("m1")
		b.pass(10 * lease)
		b.charge(a)
		b.same("steps", b.claim("m1").Steps, charged())
	}},
	{"a job that is gone records nothing", func(b *bench) {
		b.unstepped(nobody, "")
	}},
	{"a replay repeats no step, whatever its payload", func(b *bench) {
		for diedIn, validation := range []string{hash, "test1:bbbb", "test2:cccc"} {
			r := b.delivery("m1")
			if diedIn > 0 {
				r = b.replay(fmt.Sprint("m", diedIn+1), diedIn-1)
			}
			r.Validation = validation
			a := b.ask(r, idem.AnswerAcquired)
			if diedIn == 0 {
				b.charge(a)
			} else {
				b.same("steps", a.Steps, charged())
			}
			b.settle(a, b.verdict())
			b.settle(a, confirm())
		}
	}},
	{"a job sent again after its death repeats no step", func(b *bench) {
		a := b.claim("m1")
		b.charge(a)
		b.settle(a, b.verdict())
		b.settle(a, confirm())
		b.same("steps", b.ask(b.resend("m2", time.Minute, b.now), idem.AnswerAcquired).Steps, charged())
	}},
	{"an expired job has no steps", func(b *bench) {
		b.charge(b.claim("m1"))
		b.pass(keep)
		a := b.claim("m1")
		if a.Steps != nil {
			b.Fatalf("steps are %v, want none", a.Steps)
		}
		b.charge(a)
	}},
}
