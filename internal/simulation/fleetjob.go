package simulation

import (
	"fmt"
	"slices"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// nature is what a job does to its process.
type nature int

const (
	// innocent never ends it.
	innocent nature = iota
	// moody may end it.
	moody
	// deadly always does.
	deadly
)

// job is one of a fleet's, and what is known of it.
type job struct {
	name     string
	group    string // of a FIFO queue
	nature   nature
	way      order   // how it ends its process
	fragile  float64 // share of runs that fail
	messages int     // sent so far

	epoch   int
	kills   int // processes that it has ended in a row, in the epoch as are those below
	failed  int // runs that failed by themselves
	effects []*hold
	// unheard counts the lone runs in a row whose end the store does not know.
	unheard int

	completed, refused, dropped, moved bool
	verdict                            string // the reason of its death
	letters                            int
}

// ends tells whether the job has its outcome.
func (j *job) ends() bool { return j.completed || j.dropped || j.moved || j.letters > 0 }

// healthy tells whether nothing but the world around it keeps the job from its end.
func (j *job) healthy() bool { return j.nature == innocent && j.fragile == 0 }

// newJob draws a job, with one message and sometimes another.
func (f *fleet) newJob() *job {
	j := &job{
		name:    fmt.Sprintf("j%d", len(f.jobs)),
		group:   fmt.Sprintf("g%d", f.rng.IntN(3)),
		nature:  []nature{innocent, innocent, innocent, moody, deadly}[f.rng.IntN(5)],
		way:     []order{panicBefore, panicAfter, exitBefore, exitAfter, strand, abandon}[f.rng.IntN(6)],
		fragile: []float64{0, 0, 0.3}[f.rng.IntN(3)],
	}
	f.send(j)
	if f.rng.IntN(3) == 0 {
		f.send(j)
	}
	return j
}

// fate draws what the job does.
func (j *job) fate(f *fleet) order {
	switch {
	case j.nature == deadly, j.nature == moody && f.rng.IntN(2) == 0:
		return j.way
	case f.rng.Float64() >= j.fragile:
		return succeed
	default:
		return []order{failBefore, failBefore, refuse}[f.rng.IntN(3)]
	}
}

// hold is a claim that a process has on a job.
type hold struct {
	job     *job
	process *process
	claim   idem.Claim
	suspect bool
	ran     bool
	ended   bool // it has ended its process
	// lone tells that its crash was counted, unheard what was before that, and beside
	// that it ran although it was not.
	lone, beside bool
	unheard      int
	crashes      int // as they were at the claim
	// faulted tells that a write about it went wrong.
	faulted bool
}

// takes notes the job's effect. It may come twice only where nobody could have
// recorded the first.
func (f *fleet) takes(h *hold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("%s: %s takes effect", h.process, h.job.name)
	if len(h.job.effects) > 0 {
		f.count("second effect")
	}
	for _, earlier := range h.job.effects {
		if h.job.completed || !earlier.ended && !earlier.process.dead && !earlier.faulted {
			f.breaks("an effect comes once unless its process dies before the record", "%s has it in %s and again in %s",
				h.job.name, earlier.process, h.process)
		}
	}
	h.job.effects = append(h.job.effects, h)
}

// acknowledges notes that a message of the job leaves the queue.
func (f *fleet) acknowledges(m *mail) {
	if j := m.job; !j.completed && j.letters == 0 && !j.dropped {
		f.breaks("nothing is acknowledged without an outcome", "%s of %s", m.id, j.name)
	}
	f.remove(m)
}

// sentence holds a verdict against what the job did.
func (f *fleet) sentence(h *hold, s idem.Settlement) {
	j := h.job
	j.verdict = s.Failure.Reason
	j.dropped = s.DeadLetterID == idem.DroppedLetter
	f.note("%s: %s is dead: %s", h.process, j.name, j.verdict)
	f.count("dead: %s", j.verdict)
	if j.dropped {
		f.count("dropped")
	}
	known := []string{"refused", handler.ReasonExhausted, handler.ReasonMaxReceives, idem.ReasonCrashLoop}
	switch {
	case !slices.Contains(known, j.verdict):
		f.breaks("a death has a reason", "%s died of %s", j.name, j.verdict)
	case j.verdict == "refused" && !j.refused:
		f.breaks("a death has a reason", "%s was never refused", j.name)
	case j.verdict == handler.ReasonExhausted && j.failed < budget:
		f.breaks("the budget is the job's own", "%s died after %d failures of its own", j.name, j.failed)
	case j.verdict == idem.ReasonCrashLoop && j.nature == innocent && j.unheard < crashLimit:
		f.breaks("no innocent dies in a crash loop", "%s never ended its process, and %d of its lone runs went unheard",
			j.name, j.unheard)
	case j.verdict == handler.ReasonMaxReceives && j.healthy():
		f.runsOut(f.mailOf(h.claim.MessageID))
	}
}

// runsOut is for a healthy job whose receives are used up. Few receives may be, and
// those that faults, kills and copies have used up count for nobody.
func (f *fleet) runsOut(m *mail) {
	if m != nil && f.maxReceives >= enoughReceives && m.receives-m.disturbed >= f.maxReceives {
		f.breaks("no healthy job dies", "%s has used up its %d receives, %d of them by faults", m.id, m.receives, m.disturbed)
	}
}

// enoughReceives is the least maxReceiveCount that we advise.
const enoughReceives = 30

// budget is how many failures a job has by default.
const budget = 8

// ended notes that a run's process has died of the job itself.
func (f *fleet) ended(j *job) {
	j.kills++
	if j.kills > mostKills {
		f.breaks("a crash loop ends", "%s has ended %d processes in a row", j.name, j.kills)
	}
}

// mostKills is how many processes a job can end: two beside others, two alone.
const mostKills = 4

// finished holds the end of the history against what was promised.
func (f *fleet) finished() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		switch {
		case j.moved:
		case j.completed && len(j.effects) == 0:
			f.breaks("what is done has taken effect", "%s", j.name)
		case !j.completed && j.letters == 0 && !j.dropped:
			f.breaks("a job comes to its end", "%s has none", j.name)
		case j.completed && j.nature == deadly:
			f.breaks("a job that always ends its process is not done", "%s", j.name)
		}
	}
}
