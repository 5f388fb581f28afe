package idemtest

import (
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

var claimCases = []testCase{
	{"a new job is acquired", func(b *bench) {
		a := b.claim("m1")
		b.counts(a, 0, 0, 0)
		b.same("job", a.Job, handler.Job{})
	}},
	{"jobs do not touch each other", func(b *bench) {
		b.claim("m1")
		r := b.delivery("m2")
		r.ID = "charges#other"
		b.ask(r, idem.AnswerAcquired)
	}},
	{"a held job is busy until its lease lapses", func(b *bench) {
		b.claim("m1")
		until := b.now.Add(lease)
		b.pass(lease - time.Millisecond)
		if a := b.ask(b.delivery("m2"), idem.AnswerBusy); !a.Until.Equal(until) {
			b.Fatalf("busy until %v, want %v", a.Until, until)
		}
		b.pass(time.Millisecond)
		b.counts(b.claim("m2"), 1, 0, 0)
	}},
	{"a message is no exception from its own claim", func(b *bench) {
		b.claim("m1")
		b.ask(b.delivery("m1"), idem.AnswerBusy)
	}},
	{"a request that arrives again after its run claims nothing", func(b *bench) {
		r := b.delivery("m1")
		b.settle(b.ask(r, idem.AnswerAcquired), b.abort())
		if _, err := b.store.Acquire(b.Context(), r); err != nil {
			b.Fatalf("acquire: %v", err)
		}
		b.counts(b.claim("m1"), 1, 1, 0)
	}},
	{"a job that was taken over keeps its state", func(b *bench) {
		b.settle(b.claim("m1"), b.release(time.Second))
		b.pass(time.Second)
		b.claim("m1")
		b.pass(lease)
		a := b.claim("m1")
		b.counts(a, 2, 1, 0)
		if a.Job.Attempts != 3 || a.Job.Unclassified != 1 {
			b.Fatalf("job is %+v, want 3 attempts, 1 unclassified", a.Job)
		}
	}},
	{"an expired job is as good as new", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		b.settle(b.claim("m1"), b.complete())
		b.pass(keep - time.Second)
		b.ask(b.delivery("m1"), idem.AnswerDuplicate)
		b.pass(time.Second)
		a := b.claim("m2")
		b.counts(a, 0, 0, 0)
		b.same("job", a.Job, handler.Job{})
	}},
	{"an expired job is new for another payload", func(b *bench) {
		b.settle(b.claim("m1"), b.complete())
		b.pass(keep)
		r := b.delivery("m2")
		r.Validation = "test1:bbbb"
		b.ask(r, idem.AnswerAcquired)
		b.ask(b.delivery("m3"), idem.AnswerConflict)
	}},
	{"a death expires like all else", func(b *bench) {
		b.settle(b.die(), confirm())
		b.pass(keep)
		if a := b.claim("m1"); a.Job.Epoch != 0 || len(a.Job.History.Attempts) > 0 {
			b.Fatalf("job is %+v, want a new one", a.Job)
		}
	}},
	{"each claim keeps the job for its own time", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		b.pass(keep / 2)
		b.settle(b.claim("m1"), b.complete())
		b.pass(keep/2 + time.Hour)
		b.ask(b.delivery("m1"), idem.AnswerDuplicate)
	}},
	{"of many deliveries at once one acquires", func(b *bench) {
		b.same("answers", b.contend(b.copyNumber), map[idem.AnswerKind]int{
			idem.AnswerAcquired: 1, idem.AnswerBusy: 29,
		})
	}},
	{"of many deliveries at once one takes over", func(b *bench) {
		b.claim("m1")
		b.pass(lease)
		b.same("answers", b.contend(b.copyNumber), map[idem.AnswerKind]int{
			idem.AnswerAcquired: 1, idem.AnswerBusy: 29,
		})
	}},
	{"of many deliveries at once one replaces what has expired", func(b *bench) {
		b.settle(b.claim("m1"), b.complete())
		b.pass(keep)
		b.same("answers", b.contend(b.copyNumber), map[idem.AnswerKind]int{
			idem.AnswerAcquired: 1, idem.AnswerBusy: 29,
		})
	}},
}

func (b *bench) copyNumber(i int) idem.Request { return b.delivery(fmt.Sprintf("m%d", i)) }
