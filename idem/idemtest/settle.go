package idemtest

import (
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

var settleCases = []testCase{
	{"a completed job is a duplicate", func(b *bench) {
		b.settle(b.claim("m1"), b.complete())
		for range 2 {
			if a := b.ask(b.delivery("m2"), idem.AnswerDuplicate); a.Status != idem.StatusCompleted {
				b.Fatalf("status is %s, want COMPLETED", a.Status)
			}
			b.pass(2 * lease)
		}
	}},
	{"a released job is busy until its next attempt", func(b *bench) {
		b.settle(b.claim("m1"), b.release(time.Minute))
		history := b.history()
		b.pass(time.Minute - time.Millisecond)
		b.ask(b.delivery("m1"), idem.AnswerBusy)
		b.pass(time.Millisecond)
		a := b.claim("m1")
		b.counts(a, 1, 1, 0)
		b.same("history", a.Job.History, history)
		if a.Job.Attempts != 3 || a.Job.Unclassified != 1 || a.Job.Epoch != 0 {
			b.Fatalf("job is %+v, want 3 attempts, 1 unclassified, epoch 0", a.Job)
		}
	}},
	{"an aborted job is claimable at once and as it was", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		before := b.claim("m1")
		b.settle(before, b.abort())
		a := b.claim("m1")
		b.counts(a, 2, 2, 0)
		b.same("job", a.Job, before.Job)
	}},
	{"a crash is marked and ends the claim, but settles nothing", func(b *bench) {
		b.settle(b.claim("m1"), b.crash(1))
		a := b.claim("m1")
		b.counts(a, 1, 0, 1)
		if a.CrashStack != "main.charge()" {
			b.Fatalf("crash stack is %q", a.CrashStack)
		}
	}},
	{"a settled run forgives the crashes before it", func(b *bench) {
		b.settle(b.claim("m1"), b.crash(1))
		b.settle(b.claim("m1"), b.release(0))
		b.counts(b.claim("m1"), 2, 2, 0)
	}},
	{"a run that ends settles all claims before it", func(b *bench) {
		for _, s := range []idem.Settlement{b.release(0), b.verdict()} {
			for range 3 {
				b.claim("m1")
				b.pass(lease)
			}
			a := b.claim("m1")
			s.Lease = b.now
			b.settle(a, s)
			if s.Kind == idem.SettleRelease {
				next := b.claim("m1")
				b.counts(next, 4, 4, 0)
				b.settle(next, b.abort())
				continue
			}
			if sent := b.ask(b.delivery("m1"), idem.AnswerSend); sent.Claims != 9 || sent.Settled != 9 {
				b.Fatalf("claims %d, settled %d; want 9 of 9", sent.Claims, sent.Settled)
			}
		}
	}},
	{"a claim that is given back settles itself alone", func(b *bench) {
		b.claim("m1")
		b.pass(lease)
		for range 3 {
			b.settle(b.claim("m1"), b.abort())
		}
		b.counts(b.claim("m1"), 4, 3, 0)
	}},
	{"an abort keeps the crashes before it", func(b *bench) {
		b.settle(b.claim("m1"), b.crash(1))
		abort := b.abort()
		abort.Crashes = 1
		b.settle(b.claim("m1"), abort)
		b.counts(b.claim("m1"), 2, 1, 1)
	}},
	{"a late finisher overwrites nothing", func(b *bench) {
		stale := b.claim("m1")
		b.pass(lease)
		b.claim("m2")
		for _, s := range []idem.Settlement{b.complete(), b.release(0), b.abort(), b.verdict(), b.crash(1), confirm()} {
			b.late(stale, s, idem.StatusInProgress)
		}
		b.ask(b.delivery("m3"), idem.AnswerBusy)
		b.pass(lease)
		b.counts(b.claim("m3"), 2, 0, 0)
	}},
	{"a lapsed claim that nobody took is still the owner's", func(b *bench) {
		a := b.claim("m1")
		b.pass(10 * lease)
		b.settle(a, b.complete())
		b.ask(b.delivery("m1"), idem.AnswerDuplicate)
	}},
	{"who is late for a completed job finds it done", func(b *bench) {
		stale := b.claim("m1")
		b.pass(lease)
		b.settle(b.claim("m2"), b.complete())
		b.settle(stale, b.complete())
		for _, s := range []idem.Settlement{b.release(0), b.abort(), b.verdict()} {
			b.late(stale, s, idem.StatusCompleted)
		}
		b.ask(b.delivery("m1"), idem.AnswerDuplicate)
	}},
	{"who is late for a dead job does not complete it", func(b *bench) {
		stale := b.claim("m1")
		b.pass(lease)
		b.settle(b.claim("m2"), b.verdict())
		for _, s := range []idem.Settlement{b.complete(), b.release(0), b.verdict(), confirm()} {
			b.late(stale, s, idem.StatusDead)
		}
	}},
	{"who is late learns how long the present owner holds", func(b *bench) {
		stale := b.claim("m1")
		b.pass(lease)
		b.claim("m2")
		err := b.store.Settle(b.Context(), stale.Claim, b.complete())
		if late, ok := err.(*idem.LateError); !ok || !late.Until.Equal(b.now.Add(lease)) {
			b.Fatalf("settle gave %v, want a LateError until %v", err, b.now.Add(lease))
		}
	}},
	{"a job that is gone cannot be settled", func(b *bench) {
		b.late(idem.Answer{Claim: idem.Claim{ID: "charges#none", Owner: "o"}}, b.complete(), "")
	}},
}
