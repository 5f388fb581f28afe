package simulation

import (
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// margin is how far the clocks of two machines may be apart.
const margin = 2 * time.Second

// gone tells whether the job is as good as unknown to the asker.
func (w *world) gone(r idem.Request) bool { return w.status == "" || w.expires.Unix() <= r.Now.Unix() }

func (w *world) leased(r idem.Request) bool { return w.lease.UnixMilli() > r.Now.UnixMilli() }

// reopens tells whether the request must begin a new epoch, and whether it may.
func (w *world) reopens(r idem.Request) (must, may bool) {
	if w.status != idem.StatusDead {
		return false, false
	}
	other := r.MessageID != w.verdictBy
	replay := r.Epoch > w.epoch && other
	must = replay || other && w.strict && r.SentAt.After(w.diedAt)
	may = replay || other && !r.SentAt.Before(w.deadAt.Add(-margin))
	return must, must || may
}

// judge holds a first answer against what every store promises.
func (w *world) judge(r idem.Request, a idem.Answer) {
	must, may := w.reopens(r)
	switch {
	case w.gone(r):
		w.demand(a.Kind == idem.AnswerAcquired, "a job that is new or has expired runs", a)
		w.demand(a.Job.Epoch == r.Epoch, "a replay begins no earlier than after its death", a)
	case must && a.Kind != idem.AnswerAcquired:
		w.breach("a job sent again after its death runs", "%s is told %s", r.MessageID, a.Kind)
	default:
		w.judgeCopy(r, a, may)
	}
}

func (w *world) demand(kept bool, rule string, a idem.Answer) {
	if !kept {
		w.breach(rule, "the answer is %s (%s), the book has %q of %s in epoch %d until %s, letter %q",
			a.Kind, a.Status, w.status, w.alias(w.owner), w.epoch, w.lease.Sub(w.begin), w.confirmed)
	}
}

// judgeCopy is about a job that the store knows.
func (w *world) judgeCopy(r idem.Request, a idem.Answer, mayReopen bool) {
	final := w.status == idem.StatusCompleted || w.status == idem.StatusDead && w.confirmed != ""
	strange := scheme(r.Validation) == scheme(w.hash) && r.Validation != w.hash && r.MessageID != w.messageID
	switch a.Kind {
	case idem.AnswerAcquired:
		w.demand(w.status != idem.StatusCompleted, "completion is left by expiry alone", a)
		w.demand(w.status != idem.StatusDead || mayReopen, "a copy of a dead job does not run", a)
		if w.status == idem.StatusInProgress {
			w.demand(!w.leased(r), "one owner at a time", a)
			w.demand(!strange, "a key is not used for two payloads", a)
		}
	case idem.AnswerDuplicate:
		w.demand(final, "nothing is taken for done that is not", a)
	case idem.AnswerBusy:
		w.demand(!final && w.leased(r), "a copy waits for a lease and no longer", a)
		w.demand(a.Until.Equal(w.lease), "a copy learns how long it waits", a)
	case idem.AnswerConflict:
		w.demand(strange, "only another payload is a conflict", a)
	case idem.AnswerSend:
		w.demand(w.status == idem.StatusDead && !final, "a letter is sent for a dead job without one", a)
		w.demand(!w.leased(r), "one sender at a time", a)
	}
	if strange && !mayReopen {
		w.demand(a.Kind == idem.AnswerConflict, "a key is not used for two payloads", a)
	}
}

func scheme(hash string) string {
	name, _, _ := strings.Cut(hash, ":")
	return name
}
