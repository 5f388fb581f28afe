package idemtest

import "github.com/sqsafe/sqsafe/idem"

var aloneCases = []testCase{
	{"a lone run is counted ahead of its end", func(b *bench) {
		b.claim("m1")
		b.pass(lease)
		b.settle(b.claim("m1"), alone(1))
		b.pass(lease)
		a := b.claim("m1")
		b.counts(a, 2, 0, 1)
		b.settle(a, alone(2))
		b.pass(lease)
		b.counts(b.claim("m1"), 3, 0, 2)
	}},
	{"counting a lone run changes nothing else", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		b.settle(b.claim("m1"), b.crash(1))
		before := b.claim("m1")
		b.settle(before, alone(2))
		if busy := b.ask(b.delivery("m2"), idem.AnswerBusy); !busy.Until.Equal(b.now.Add(lease)) {
			b.Fatalf("busy until %v, want %v", busy.Until, b.now.Add(lease))
		}
		b.pass(lease)
		a := b.claim("m1")
		b.counts(a, 3, 1, 2)
		before.Job.Crashes = 2
		b.same("job", a.Job, before.Job)
		b.same("crash stack", a.CrashStack, before.CrashStack)
	}},
	{"a lone run is settled like any other", func(b *bench) {
		for _, s := range []idem.Settlement{b.release(0), b.abort(), b.crash(0), b.verdict()} {
			a := b.claim("m1")
			b.settle(a, alone(1))
			b.settle(a, s)
		}
		b.pass(lease)
		b.ask(b.delivery("m1"), idem.AnswerSend)
	}},
	{"a lone run that ends forgives the crashes before it", func(b *bench) {
		b.settle(b.claim("m1"), b.crash(1))
		a := b.claim("m1")
		b.settle(a, alone(2))
		b.settle(a, b.release(0))
		b.counts(b.claim("m1"), 2, 2, 0)
	}},
	{"a lone run that lasts long is counted no more", func(b *bench) {
		b.claim("m1")
		b.pass(lease)
		a := b.claim("m1")
		b.settle(a, alone(1))
		b.settle(a, alone(0))
		b.pass(lease)
		b.counts(b.claim("m1"), 2, 0, 0)
	}},
	{"a lone run that did not begin is taken back", func(b *bench) {
		b.settle(b.claim("m1"), b.crash(1))
		a := b.claim("m1")
		b.settle(a, alone(2))
		abort := b.abort()
		abort.Crashes = 1
		b.settle(a, abort)
		b.counts(b.claim("m1"), 2, 1, 1)
	}},
	{"a lone run is not counted after its end", func(b *bench) {
		for _, s := range []idem.Settlement{b.release(0), b.abort()} {
			a := b.claim("m1")
			b.settle(a, s)
			b.late(a, alone(1), idem.StatusInProgress)
		}
		b.counts(b.claim("m1"), 2, 2, 0)
		b.pass(lease)
		a := b.claim("m1")
		b.settle(a, b.complete())
		b.late(a, alone(1), idem.StatusCompleted)
	}},
	{"a dead job has no lone run", func(b *bench) {
		a := b.die()
		b.late(a, alone(1), idem.StatusDead)
		b.settle(a, confirm())
		b.late(a, alone(1), idem.StatusDead)
	}},
	{"a claim that was taken over counts no lone run", func(b *bench) {
		stale := b.claim("m1")
		b.pass(lease)
		b.claim("m2")
		b.late(stale, alone(1), idem.StatusInProgress)
		b.pass(lease)
		b.counts(b.claim("m3"), 2, 0, 0)
	}},
	{"a lapsed claim that nobody took counts a lone run", func(b *bench) {
		a := b.claim("m1")
		b.pass(10 * lease)
		b.settle(a, alone(1))
		b.counts(b.claim("m1"), 1, 0, 1)
	}},
	{"a job that is gone counts no lone run", func(b *bench) {
		b.late(nobody, alone(1), "")
	}},
}
