package dlqui

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// Kinds of runs, and the action of their audit lines.
const (
	kindReplay  = "replay"
	kindArchive = "archive"
	kindDiscard = "discard"
	kindRestore = "restore"
	kindRedrive = "redrive"
)

// Phases of a run.
const (
	phaseReading   = "reads the queue"
	phaseSending   = "sends letters back"
	phaseFollowing = "follows the jobs"
	phaseMoving    = "writes letters into the file and deletes them"
	phaseRestoring = "sends the letters of the file"
	phaseRedriving = "lets SQS move letters"
	phaseEnded     = "has ended"
)

// run is something that changes a queue, and how far it is. Its goroutine calls the methods
// that change it.
type run struct {
	ID, Kind, Why string
	Shelf         *shelf
	Started       time.Time

	cancel context.CancelFunc

	mu  sync.Mutex
	now status
}

// status is how far a run is.
type status struct {
	Phase string
	// Total is the number of letters to send, or 0 if it is not known, and Summary what
	// became of them.
	Total   int
	Summary replay.Summary
	// Notes name letters that did not go as planned.
	Notes []string
	// Outcomes counts the jobs whose letters were sent by their outcomes, and Jobs has
	// those that are not done.
	Outcomes replay.Outcomes
	Jobs     []jobOutcome
	// File is the journal or the archive.
	File string
	// Archived and Deleted are the numbers of letters that are in the file and deleted.
	Archived, Deleted int
	// Restored counts the letters of a file, and Moved those that SQS has moved.
	Restored archive.Restored
	Moved    int
	// Problem says why the run did not end as planned; empty if it did.
	Problem string
	Ended   time.Time
}

type jobOutcome struct {
	ID, Job string
	Outcome replay.Outcome
	Reason  string
}

// Active reports whether the run goes on.
func (s *status) Active() bool { return s.Phase != phaseEnded }

// Gone returns the number of letters of which something became.
func (s *status) Gone() int { return s.Total - s.Summary.Untried }

// status returns a copy.
func (r *run) status() status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.now
	s.Notes, s.Jobs = slices.Clone(s.Notes), slices.Clone(s.Jobs)
	return s
}

func (r *run) update(f func(*status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.now)
}

// maxNotes bounds what a page lists.
const maxNotes = 100

func (r *run) note(text string) {
	r.update(func(s *status) {
		if len(s.Notes) < maxNotes {
			s.Notes = append(s.Notes, text)
		}
	})
}

// end notes the end, and why it came early.
func (r *run) end(problem string) {
	r.update(func(s *status) { s.Phase, s.Problem, s.Ended = phaseEnded, problem, time.Now() })
}

// runs are the runs of a process.
type runs struct {
	// base ends when the process does.
	base   context.Context
	cancel context.CancelFunc
	going  sync.WaitGroup

	mu   sync.Mutex
	list []*run
}

// maxRuns is how many runs the pages remember.
const maxRuns = 100

func newRuns() *runs {
	r := new(runs)
	r.base, r.cancel = context.WithCancel(context.Background())
	return r
}

// start starts a run. Its work gives the letters back by [shelf.vacate].
func (rs *runs) start(ctx context.Context, r *run, work func(context.Context)) error {
	if err := r.Shelf.occupy(ctx, r); err != nil {
		return err
	}
	working, cancel := context.WithCancel(rs.base)
	r.cancel, r.Started, r.now.Phase = cancel, time.Now(), phaseReading
	rs.mu.Lock()
	rs.list = append(rs.list, r)
	rs.list = rs.list[max(0, len(rs.list)-maxRuns):]
	rs.mu.Unlock()
	rs.going.Go(func() {
		defer cancel()
		work(working)
	})
	return nil
}

func (rs *runs) find(id string) *run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.list {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// all returns the runs, the newest first.
func (rs *runs) all() []*run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	list := slices.Clone(rs.list)
	slices.Reverse(list)
	return list
}

// stop ends all runs and waits for them.
func (rs *runs) stop() {
	rs.cancel()
	rs.going.Wait()
}
