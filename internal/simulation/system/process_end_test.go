package system

import (
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// endLag is how long a process may take to notice that it is to end.
const endLag = time.Second

// checkEnding checks that nothing starts in a process that has crashed or drains, except a
// message at its last receive. The world is locked.
func (j *judge) checkEnding(r *jobRun, m *handler.Message) {
	p, now, about := r.process, j.w.now(), []string{r.job.name}
	a := j.activity(p)
	if a.crashed > 0 && now > a.crashed+endLag {
		j.w.breaksLocked("crash", about, "run %d of %s begins in %s, %v after a crash of it",
			r.number, r.name, p.name, now-a.crashed)
	}
	last := p.release.maxReceives > 0 && m.ReceiveCount() >= p.release.maxReceives
	if a.told > 0 && now > a.told+endLag && !last {
		j.w.breaksLocked("drain", about, "run %d of %s begins in %s, which drains since %v",
			r.number, r.name, p.name, now-a.told)
	}
}

// crashes notes that a run has panicked. The world is locked.
func (j *judge) crashes(r *jobRun, err error) {
	if err == errPanicked && !j.w.on[mildly] { //nolint:errorlint // it is this one
		if a := j.activity(r.process); a.crashed == 0 {
			a.crashed = j.w.now()
		}
	}
}

// told notes that a worker was told to stop. Its runs are to be cut off at the end of its
// time to drain.
func (j *judge) told(p *process, drain time.Duration) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	j.activity(p).told = j.w.now()
	time.AfterFunc(drain+endLag, func() { j.checkCutOff(p, drain) })
}

func (j *judge) checkCutOff(p *process, drain time.Duration) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	for name, s := range j.jobs {
		for _, r := range s.runs {
			if r.process == p && !p.isDead() && !r.ended && r.ctx.Err() == nil {
				j.w.breaksLocked("drain", []string{name}, "run %d of %s is not cut off by %s, which had %v to drain",
					r.number, r.name, p.name, drain)
			}
		}
	}
}

// checkPoll checks that a process that was told to stop asks for no more messages.
func (j *judge) checkPoll(p *process) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if told := j.activity(p).told; told > 0 && j.w.now() > told+endLag {
		j.w.breaksLocked("drain", nil, "%s asks for messages, and drains since %v", p.name, j.w.now()-told)
	}
}

// watchdogged checks that an answer of the watchdog has a cause: all that is the processor's
// own heeds the end of its time. The world is locked.
func (j *judge) watchdogged(request string) {
	if !j.w.on[hangs] {
		j.w.breaksLocked("deadline", nil, "the watchdog has answered %s, and nothing of the user's hangs", request)
	}
}
