package idemtest

import (
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

var renewCases = []testCase{
	{"a renewed claim holds longer", func(b *bench) {
		a := b.claim("m1")
		for range 3 {
			b.pass(lease - time.Millisecond)
			b.renew(a, b.now.Add(lease))
			if busy := b.ask(b.delivery("m2"), idem.AnswerBusy); !busy.Until.Equal(b.now.Add(lease)) {
				b.Fatalf("busy until %v, want %v", busy.Until, b.now.Add(lease))
			}
		}
		b.pass(lease - time.Millisecond)
		b.ask(b.delivery("m2"), idem.AnswerBusy)
		b.pass(time.Millisecond)
		b.counts(b.claim("m2"), 1, 0, 0)
	}},
	{"renewing leaves the job as it was", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		b.settle(b.claim("m1"), b.crash(1))
		a := b.claim("m1")
		b.renew(a, b.now.Add(2*lease))
		b.pass(2 * lease)
		next := b.claim("m1")
		b.counts(next, 3, 1, 1)
		b.same("job", next.Job, a.Job)
	}},
	{"a renewed claim is settled like any other", func(b *bench) {
		for _, s := range []idem.Settlement{b.release(0), b.crash(1), b.abort(), b.verdict()} {
			a := b.claim("m1")
			b.renew(a, b.now.Add(2*lease))
			b.settle(a, s)
		}
		b.ask(b.delivery("m1"), idem.AnswerBusy)
		b.pass(lease)
		b.ask(b.delivery("m1"), idem.AnswerSend)
	}},
	{"a lapsed claim that nobody took can be renewed", func(b *bench) {
		a := b.claim("m1")
		b.pass(10 * lease)
		b.renew(a, b.now.Add(lease))
		b.ask(b.delivery("m2"), idem.AnswerBusy)
	}},
	{"a claim that was taken over is not renewed", func(b *bench) {
		stale := b.claim("m1")
		b.pass(lease)
		held := b.claim("m2")
		until := b.now.Add(lease)
		b.pass(time.Second)
		b.unrenewed(stale, idem.StatusInProgress)
		if busy := b.ask(b.delivery("m3"), idem.AnswerBusy); !busy.Until.Equal(until) {
			b.Fatalf("busy until %v, want %v", busy.Until, until)
		}
		b.settle(held, b.complete())
		b.unrenewed(stale, idem.StatusCompleted)
	}},
	{"a settled claim is not renewed", func(b *bench) {
		for _, s := range []idem.Settlement{b.release(0), b.abort()} {
			a := b.claim("m1")
			b.settle(a, s)
			b.unrenewed(a, idem.StatusInProgress)
			b.settle(b.claim("m1"), b.abort())
		}
		a := b.claim("m1")
		b.settle(a, b.complete())
		b.unrenewed(a, idem.StatusCompleted)
	}},
	{"a dead job is not renewed", func(b *bench) {
		a := b.die()
		b.unrenewed(a, idem.StatusDead)
		b.settle(a, confirm())
		b.unrenewed(a, idem.StatusDead)
	}},
	{"a request that arrives late shortens nothing", func(b *bench) {
		a := b.claim("m1")
		b.renew(a, b.now.Add(3*lease))
		b.renew(a, b.now.Add(2*lease))
		b.pass(3*lease - time.Millisecond)
		b.ask(b.delivery("m2"), idem.AnswerBusy)
	}},
	{"a job that is gone is not renewed", func(b *bench) {
		b.unrenewed(idem.Answer{Claim: idem.Claim{ID: "charges#none", Owner: "o"}}, "")
	}},
}
