package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// book is what is known of the job from the writes that the store has taken,
// kept apart from the store's own rules.
type book struct {
	status    idem.Status // empty where there is no item
	owner     string
	lease     time.Time // by the store's times, as are the others
	expires   time.Time
	hash      string
	messageID string

	epoch, claims, closed    int
	attempts, crashes, fails int
	closedRun                bool      // the owner's run was settled
	suspect                  bool      // the owner has to expect that the job ends its process
	crashesBefore            int       // as they were at the owner's claim
	aloneAt                  time.Time // when its crash was counted ahead; zero if it was not

	deadAt    time.Time // by the clock of who said so
	diedAt    time.Time // by the world's, when the verdict was taken
	verdictBy string    // the message whose death it was
	confirmed string

	letterSent map[int]string // the last letter of each epoch
	effects    []*run         // of the epoch
	stepped    bool           // the step was recorded, in this epoch or before
}

// contention is how often others may come between before a store may give up.
const contention = 3

// acquired asks the store and holds its answer against the book.
func (w *world) acquired(ctx context.Context, p *worker, r idem.Request) (idem.Answer, error) {
	before := w.pauses
	a, err := w.store.Acquire(ctx, r)
	if err != nil && w.pauses-before >= contention {
		w.tell("%s: %s asks in vain: %v", p, r.MessageID, err)
		return a, err
	}
	if err != nil {
		w.breach("the store works", "acquire: %v", err)
		return a, err
	}
	w.tell("%s: %s asks (epoch %d, owner %s): %s, %d attempts",
		p, r.MessageID, r.Epoch, w.alias(r.Owner), a.Kind, a.Job.Attempts)
	if r.Owner == w.owner && w.status != "" {
		w.repeated(r, a)
		return a, nil
	}
	w.judge(r, a)
	switch a.Kind {
	case idem.AnswerAcquired:
		w.claimed(p, r, a)
	case idem.AnswerSend:
		w.owner, w.lease, w.expires = r.Owner, r.Lease.Truncate(time.Millisecond), r.Expires.Truncate(time.Second)
	}
	return a, nil
}

// repeated holds a second answer against the first. Nobody gets that of a call
// which arrives when its caller waits no more.
func (w *world) repeated(r idem.Request, a idem.Answer) {
	if w.landing {
		return
	}
	want := idem.AnswerAcquired
	if w.status == idem.StatusDead {
		want = idem.AnswerSend
	}
	if a.Kind != want || a.Job.Epoch != w.epoch || !a.Claim.Lease.Equal(w.lease) {
		w.breach("a lost answer can be had again", "%s of epoch %d for owner %s", a.Kind, a.Job.Epoch, w.alias(r.Owner))
	}
	if want == idem.AnswerAcquired && (a.Claims != w.claims-1 || a.Settled != w.closed) {
		w.breach("a claim that is asked for twice counts once", "%d claims, %d settled; the book has %d, %d",
			a.Claims, a.Settled, w.claims-1, w.closed)
	}
}

// claimed enters a claim into the book.
func (w *world) claimed(p *worker, r idem.Request, a idem.Answer) {
	switch {
	case w.gone(r):
		w.lives++
		w.book = book{letterSent: map[int]string{}, epoch: a.Job.Epoch}
	case w.status == idem.StatusDead:
		if a.Job.Epoch <= w.epoch {
			w.breach("a death ends its epoch", "epoch %d after %d", a.Job.Epoch, w.epoch)
		}
		w.book = book{letterSent: w.letterSent, epoch: a.Job.Epoch, fails: w.fails, stepped: w.stepped}
	}
	if a.Job.Epoch != w.epoch || a.Job.Attempts != w.attempts ||
		a.Job.Crashes != w.crashes || a.Job.History.Len() != w.fails {
		w.breach("a claim keeps the job's state, and its budget is its own",
			"epoch %d, %d attempts, %d crashes, %d failed runs; the book has %d, %d, %d, %d",
			a.Job.Epoch, a.Job.Attempts, a.Job.Crashes, a.Job.History.Len(), w.epoch, w.attempts, w.crashes, w.fails)
	}
	if (len(a.Steps) > 0) != w.stepped {
		w.breach("a step is done once", "the claim knows %d steps, recorded: %v", len(a.Steps), w.stepped)
	}
	if a.Claims != w.claims || a.Settled != w.closed {
		w.breach("who may have died with the job is told", "%d claims, %d settled; the book has %d, %d",
			a.Claims, a.Settled, w.claims, w.closed)
	}
	w.status, w.owner, w.messageID, w.hash = idem.StatusInProgress, r.Owner, r.MessageID, r.Validation
	w.lease, w.expires = r.Lease.Truncate(time.Millisecond), r.Expires.Truncate(time.Second)
	w.suspect, w.crashesBefore = w.claims-w.closed >= p.version.suspects() || w.crashes > 0, w.crashes
	w.claims++
	w.closedRun, w.aloneAt = false, time.Time{}
}

// settled writes a settlement and enters it into the book.
func (w *world) settled(ctx context.Context, p *worker, run *run, c idem.Claim, s idem.Settlement) error {
	err := w.store.Settle(ctx, c, s)
	w.tell("%s: %s of %s: %v", p, s.Kind, w.alias(c.Owner), err)
	needs := idem.StatusInProgress
	if s.Kind == idem.SettleConfirm {
		needs = idem.StatusDead
	}
	holds := c.Owner == w.owner && w.status == needs && (s.Kind != idem.SettleAlone || !w.closedRun)
	said := s.Kind == idem.SettleComplete && w.status == idem.StatusCompleted ||
		s.Kind == idem.SettleVerdict && w.status == idem.StatusDead && c.Owner == w.owner
	if !w.agree(s.Kind, c, err, holds, said) || !holds {
		return err
	}
	w.enter(p, run, c, s)
	return err
}

// transacted completes the job in a transaction with its effect. That demands the
// owner's claim, where completing alone is content with a job that is completed.
func (w *world) transacted(ctx context.Context, p *worker, run *run, c idem.Claim, s idem.Settlement) error {
	holds := c.Owner == w.owner && w.status == idem.StatusInProgress
	done := c.Owner == w.owner && w.status == idem.StatusCompleted
	err := w.settled(ctx, p, run, c, s)
	switch {
	case err != nil:
		return err
	case holds:
		w.tell("%s: the job takes effect with its completion", p)
	case !done:
		return &idem.LateError{ID: c.ID, Kind: s.Kind, Status: w.status, Until: w.lease}
	}
	return nil
}

// agree tells whether a write was taken, which it has to be if it is the owner's.
func (w *world) agree(kind idem.SettlementKind, c idem.Claim, err error, holds, said bool) bool {
	late := &idem.LateError{}
	switch {
	case err == nil && !holds && !said:
		w.breach("nothing of another owner is overwritten", "%s of %s was taken; the book has %q of %s",
			kind, w.alias(c.Owner), w.status, w.alias(w.owner))
	case err != nil && !errors.As(err, &late):
		w.breach("the store works", "%s: %v", kind, err)
	case err != nil && (holds || said):
		w.breach("an owner can settle", "%s of %s was refused: %v", kind, w.alias(c.Owner), err)
	}
	return err == nil
}

// enter notes what a settlement has changed.
func (w *world) enter(p *worker, run *run, c idem.Claim, s idem.Settlement) {
	if s.Kind == idem.SettleConfirm {
		if w.confirmed != "" && w.confirmed != s.DeadLetterID {
			w.breach("a death has one confirmed letter", "%s after %s", s.DeadLetterID, w.confirmed)
		}
		w.confirmed = s.DeadLetterID
		return
	}
	w.enterCrashes(s)
	if s.Kind == idem.SettleAlone {
		return
	}
	if s.Kind != idem.SettleComplete {
		w.lease = s.Lease.Truncate(time.Millisecond)
	}
	if s.Kind == idem.SettleCrash {
		return
	}
	w.expires = s.Expires.Truncate(time.Second)
	w.enterEnd(p, run, c, s)
}

// enterCrashes notes how many runs in a row have ended with their process.
func (w *world) enterCrashes(s idem.Settlement) {
	want := 0
	switch {
	case s.Kind == idem.SettleAbort, s.Kind == idem.SettleVerdict && s.Crashes > 0, w.takesBack(s):
		want = w.crashesBefore
	case s.Kind == idem.SettleCrash, s.Kind == idem.SettleAlone:
		want = w.crashesBefore + 1
	}
	if s.Kind == idem.SettleAlone && w.aloneAt.IsZero() {
		w.aloneAt = time.Now()
	}
	if s.Crashes != want && !w.landing {
		w.breach("crashes are runs in a row that ended with their process", "%s writes %d, want %d",
			s.Kind, s.Crashes, want)
	}
	if s.Kind == idem.SettleAlone && !w.suspect {
		w.breach("only a suspect runs alone", "no claim before it is unsettled")
	}
	if s.Kind == idem.SettleVerdict && s.Failure.Reason == idem.ReasonCrashLoop && w.crashesBefore < crashLimit {
		w.breach("who did not end its process is in no crash loop", "%d crashes", w.crashesBefore)
	}
	w.crashes = s.Crashes
}

// takesBack tells whether a settlement counts the crash of a lone run no more, which is
// to be so where it lasts.
func (w *world) takesBack(s idem.Settlement) bool {
	return s.Kind == idem.SettleAlone && s.Crashes == w.crashesBefore && !w.aloneAt.IsZero() &&
		time.Since(w.aloneAt) >= loneTime-countTime
}

const (
	// crashLimit is the number of crashes in a row after which no job runs again.
	crashLimit = 2
	// crashSuspect is the number of claims without a result that make a suspect.
	crashSuspect = 2
	// loneTime is how long a lone run keeps others away where nothing else ends it,
	// countTime the part of it that the count of its crash may take.
	loneTime  = time.Minute
	countTime = 10 * time.Second
)

// enterEnd notes the end of a run.
func (w *world) enterEnd(p *worker, run *run, c idem.Claim, s idem.Settlement) {
	switch {
	case s.Kind != idem.SettleAbort && p.version == present:
		w.closed = w.claims // a run that ends says all of those before it
	case !w.closedRun:
		w.closed++
	}
	if !w.closedRun {
		w.closedRun = true
		if s.Kind == idem.SettleRelease || s.Kind == idem.SettleVerdict {
			w.attempts += run.costs
			w.fails = s.History.Len()
		}
	}
	switch s.Kind {
	case idem.SettleComplete:
		w.status, run.completed = idem.StatusCompleted, true
	case idem.SettleVerdict:
		w.status, w.messageID, w.verdictBy = idem.StatusDead, c.MessageID, c.MessageID
		w.deadAt, w.diedAt = s.DeadAt.Truncate(time.Millisecond), time.Now()
		w.confirmed = s.DeadLetterID
	}
	if spends := s.Kind == idem.SettleRelease || s.Kind == idem.SettleVerdict; spends && s.Attempts != w.attempts {
		w.breach("attempts are the failed runs that cost budget", "%s writes %d, the book has %d",
			s.Kind, s.Attempts, w.attempts)
	}
}

// renewed writes a renewal and enters it into the book.
func (w *world) renewed(ctx context.Context, p *worker, c idem.Claim, until time.Time) error {
	err := w.store.Renew(ctx, c, until)
	w.tell("%s: renewal of %s: %v", p, w.alias(c.Owner), err)
	holds := c.Owner == w.owner && w.status == idem.StatusInProgress && !w.closedRun
	if w.agree(idem.SettleRenew, c, err, holds, false) && until.After(w.lease) {
		w.lease = until.Truncate(time.Millisecond)
	}
	return err
}

// stepRecorded records the job's step and enters it into the book.
func (w *world) stepRecorded(ctx context.Context, p *worker, c idem.Claim, s idem.StepRecord) error {
	err := w.store.RecordStep(ctx, c, s)
	w.tell("%s: step %s of %s: %v", p, s.Name, w.alias(c.Owner), err)
	holds := c.Owner == w.owner && w.status == idem.StatusInProgress && !w.closedRun
	if w.agree(idem.SettleStep, c, err, holds, false) {
		w.stepped = true
	}
	return err
}
