package idemtest

import (
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

var deathCases = []testCase{
	{"a dead job is busy while its letter is sent", func(b *bench) {
		b.die()
		b.ask(b.delivery("m1"), idem.AnswerBusy)
		b.pass(lease - time.Millisecond)
		b.ask(b.delivery("m1"), idem.AnswerBusy)
	}},
	{"a confirmed death is a duplicate", func(b *bench) {
		b.settle(b.die(), confirm())
		if a := b.ask(b.delivery("m1"), idem.AnswerDuplicate); a.Status != idem.StatusDead {
			b.Fatalf("status is %s, want DEAD", a.Status)
		}
		b.pass(10 * lease)
		b.ask(b.delivery("m1"), idem.AnswerDuplicate)
	}},
	{"an unconfirmed letter is sent by the next delivery", func(b *bench) {
		first := b.die()
		failure := b.failure()
		b.pass(lease)
		next := b.ask(b.delivery("m1"), idem.AnswerSend)
		b.same("failure", next.Failure, failure)
		if next.Job.Attempts != 3 || next.Status != idem.StatusDead {
			b.Fatalf("answer is %+v, want a dead job of 3 attempts", next)
		}
		b.ask(b.delivery("m1"), idem.AnswerBusy)
		b.late(first, confirm(), idem.StatusDead)
		b.settle(next, confirm())
		b.ask(b.delivery("m1"), idem.AnswerDuplicate)
	}},
	{"a letter that stays unconfirmed is sent again and again", func(b *bench) {
		b.die()
		for range 3 {
			b.pass(lease)
			a := b.ask(b.delivery("m1"), idem.AnswerSend)
			if a.Claims != 1 || a.Settled != 1 {
				b.Fatalf("claims %d, settled %d: sending is not a run", a.Claims, a.Settled)
			}
		}
	}},
	{"of many deliveries at once one sends", func(b *bench) {
		b.die()
		b.pass(lease)
		b.same("answers", b.contend(func(int) idem.Request { return b.delivery("m1") }), map[idem.AnswerKind]int{
			idem.AnswerSend: 1, idem.AnswerBusy: 29,
		})
	}},
	{"the death of a job that is dropped is confirmed as it is written", func(b *bench) {
		a := b.claim("m1")
		b.settle(a, b.drop())
		for range 2 {
			if d := b.ask(b.delivery("m1"), idem.AnswerDuplicate); d.Status != idem.StatusDead {
				b.Fatalf("status is %s, want DEAD", d.Status)
			}
			b.pass(lease)
		}
		b.late(a, b.complete(), idem.StatusDead)
	}},
	{"a job that was dropped runs when it is sent again", func(b *bench) {
		b.settle(b.claim("m1"), b.drop())
		next := b.ask(b.resend("m2", time.Second, b.now), idem.AnswerAcquired)
		if next.Job.Epoch != 1 {
			b.Fatalf("job is %+v, want epoch 1", next.Job)
		}
		b.settle(next, b.verdict())
		b.pass(lease)
		b.ask(b.delivery("m2"), idem.AnswerSend)
	}},
	{"the end of a claim that died does not free the job", func(b *bench) {
		a := b.die()
		b.late(a, b.release(0), idem.StatusDead)
		b.late(a, b.abort(), idem.StatusDead)
		b.late(a, b.complete(), idem.StatusDead)
		b.late(a, b.crash(1), idem.StatusDead)
	}},
}
