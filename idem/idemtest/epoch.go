package idemtest

import (
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// resend is the job's message sent anew at a time after the death.
func (b *bench) resend(messageID string, sinceDeath time.Duration, deadAt time.Time) idem.Request {
	r := b.delivery(messageID)
	r.SentAt = deadAt.Add(sinceDeath)
	return r
}

// replay is a delivery with the record of the job's death in that epoch.
func (b *bench) replay(messageID string, diedIn int) idem.Request {
	r := b.delivery(messageID)
	r.Epoch = diedIn + 1
	return r
}

// margin is how far the clocks of two machines may be apart.
const margin = 2 * time.Second

var epochCases = []testCase{
	{"a job sent again after its death runs with a whole budget", func(b *bench) {
		b.settle(b.die(), confirm())
		history, deadAt := b.history(), b.now
		b.pass(time.Hour)
		a := b.ask(b.resend("m2", time.Minute, deadAt), idem.AnswerAcquired)
		b.counts(a, 0, 0, 0)
		if a.Job.Epoch != 1 || a.Claim.Epoch != 1 || a.Job.Attempts != 0 || a.Job.Unclassified != 0 {
			b.Fatalf("job is %+v, want epoch 1 and no attempts", a.Job)
		}
		b.same("history", a.Job.History, history)
	}},
	{"a copy sent before the death stays a copy", func(b *bench) {
		b.settle(b.die(), confirm())
		b.ask(b.resend("m2", -margin-time.Millisecond, b.now), idem.AnswerDuplicate)
	}},
	{"in doubt about two clocks the job runs", func(b *bench) {
		b.settle(b.die(), confirm())
		b.ask(b.resend("m2", -margin, b.now), idem.AnswerAcquired)
	}},
	{"in doubt about the time of sending the job runs", func(b *bench) {
		b.settle(b.die(), confirm())
		r := b.delivery("m2")
		r.SentAt = time.Time{}
		b.ask(r, idem.AnswerAcquired)
	}},
	{"a message never outlives its own death", func(b *bench) {
		b.settle(b.die(), confirm())
		b.ask(b.resend("m1", time.Minute, b.now), idem.AnswerDuplicate)
	}},
	{"a replay runs, and its copies do not run again", func(b *bench) {
		b.settle(b.die(), confirm())
		a := b.ask(b.replay("m2", 0), idem.AnswerAcquired)
		if a.Job.Epoch != 1 {
			b.Fatalf("epoch is %d, want 1", a.Job.Epoch)
		}
		b.settle(a, b.verdict())
		b.settle(a, confirm())
		b.ask(b.replay("m2", 0), idem.AnswerDuplicate)
		b.ask(b.replay("m3", 0), idem.AnswerDuplicate)
		if a := b.ask(b.replay("m4", 1), idem.AnswerAcquired); a.Job.Epoch != 2 {
			b.Fatalf("epoch is %d, want 2", a.Job.Epoch)
		}
	}},
	{"a replay from a later epoch leads on", func(b *bench) {
		b.settle(b.die(), confirm())
		if a := b.ask(b.replay("m2", 4), idem.AnswerAcquired); a.Job.Epoch != 5 {
			b.Fatalf("epoch is %d, want 5", a.Job.Epoch)
		}
	}},
	{"the message of a death opens no epoch, whatever it carries", func(b *bench) {
		b.settle(b.die(), confirm())
		r := b.replay("m1", 3)
		r.SentAt = b.now
		b.ask(r, idem.AnswerDuplicate)
	}},
	{"a replay of a job that is forgotten runs after its death", func(b *bench) {
		a := b.ask(b.replay("m2", 2), idem.AnswerAcquired)
		if a.Job.Epoch != 3 || a.Claim.Epoch != 3 {
			b.Fatalf("epoch is %d, want 3", a.Job.Epoch)
		}
		b.settle(a, b.verdict())
		b.settle(a, confirm())
		b.ask(b.replay("m2", 2), idem.AnswerDuplicate)
		b.ask(b.replay("m3", 2), idem.AnswerDuplicate)
		b.pass(keep)
		if a := b.ask(b.replay("m4", 2), idem.AnswerAcquired); a.Job.Epoch != 3 || a.Claims != 0 {
			b.Fatalf("job is %+v after %d claims, want a new one in epoch 3", a.Job, a.Claims)
		}
	}},
	{"a replay takes a job over in the job's own epoch", func(b *bench) {
		b.settle(b.claim("m1"), b.release(0))
		a := b.ask(b.replay("m2", 2), idem.AnswerAcquired)
		b.counts(a, 1, 1, 0)
		if a.Job.Epoch != 0 || a.Job.Attempts != 3 {
			b.Fatalf("job is %+v, want epoch 0 with 3 attempts", a.Job)
		}
	}},
	{"a new epoch opens while the last letter is sent", func(b *bench) {
		a := b.die()
		b.ask(b.resend("m2", time.Second, b.now), idem.AnswerAcquired)
		b.late(a, confirm(), idem.StatusInProgress)
		b.ask(b.delivery("m1"), idem.AnswerBusy)
	}},
	{"a new epoch takes a corrected payload", func(b *bench) {
		b.settle(b.die(), confirm())
		r := b.replay("m2", 0)
		r.Validation = "test1:bbbb"
		b.ask(r, idem.AnswerAcquired)
		b.ask(b.delivery("m3"), idem.AnswerConflict)
	}},
	{"a job that died again is dead anew", func(b *bench) {
		b.settle(b.die(), confirm())
		a := b.ask(b.replay("m2", 0), idem.AnswerAcquired)
		b.settle(a, b.verdict())
		b.ask(b.delivery("m2"), idem.AnswerBusy)
		b.pass(lease)
		b.ask(b.delivery("m2"), idem.AnswerSend)
	}},
	{"a completed job has no new epoch", func(b *bench) {
		b.settle(b.claim("m1"), b.complete())
		r := b.replay("m2", 3)
		r.SentAt = b.now.Add(time.Hour)
		b.ask(r, idem.AnswerDuplicate)
	}},
	{"a held job has no new epoch", func(b *bench) {
		b.claim("m1")
		b.ask(b.replay("m2", 3), idem.AnswerBusy)
	}},
	{"of many replays at once one opens the epoch", func(b *bench) {
		b.settle(b.die(), confirm())
		b.same("answers", b.contend(func(int) idem.Request { return b.replay("m2", 0) }), map[idem.AnswerKind]int{
			idem.AnswerAcquired: 1, idem.AnswerBusy: 29,
		})
	}},
}
