package system

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// reasons are those for which a job of a kind may be dead-lettered.
var reasons = map[kind][]string{
	flaky:     {handler.ReasonExhausted},
	permanent: {""},
	odd:       {fault.ReasonUnclassified},
	panics:    {idem.ReasonCrashLoop},
	poison:    {idem.ReasonCrashLoop},
	endless:   {handler.ReasonExhausted},
	stuck:     {idem.ReasonCrashLoop},
	garbled:   {"decode"},
	goexit:    {idem.ReasonCrashLoop},
}

// ample reports whether the queue hands messages out often enough for all that may
// come in a history.
func (w *world) ample() bool { return w.maxReceives >= 30 }

// end judges the history as a whole.
func (j *judge) end() {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	letters := map[string][]*letter{}
	for _, l := range j.letters {
		letters[keyOf(l.name)] = append(letters[keyOf(l.name)], l)
		j.compare(l)
	}
	for _, job := range j.w.jobs {
		j.judgeJob(job, letters[job.name])
	}
	for _, m := range j.order {
		if m.gone == "" {
			j.w.breaksLocked("progress", []string{keyOf(m.name)}, "%s is still in the queue", m.name)
		}
	}
}

func (j *judge) judgeJob(job *job, letters []*letter) {
	s, about := j.state(job.name), []string{job.name}
	if s.completed && s.paid == 0 {
		j.w.breaksLocked("done", about, "%s is completed, but the provider knows nothing of it", job.name)
	}
	for _, l := range letters {
		excused := !j.w.ample()
		switch {
		case l.moved && !excused:
			j.w.breaksLocked("healthy", about, "SQS moved %s (%s)", l.name, job.kind)
		case l.moved:
		case l.record == nil:
		case l.record.Reason == handler.ReasonMaxReceives && excused:
		case job.healthy():
			j.w.breaksLocked("healthy", about, "%s (%s) is dead-lettered: %s", l.name, job.kind, l.record.Reason)
		case !j.expected(job, l.record.Reason):
			j.w.breaksLocked("reason", about, "%s (%s) is dead-lettered: %s", l.name, job.kind, l.record.Reason)
		}
	}
	if s.completed && len(letters) > 0 && !letters[0].moved {
		j.w.breaksLocked("one outcome", about, "%s is completed and has a letter", job.name)
	}
}

func (j *judge) expected(job *job, reason string) bool {
	for _, r := range reasons[job.kind] {
		if r == "" || r == reason {
			return true
		}
	}
	return false
}

// compare checks that a letter is the message as it was sent.
func (j *judge) compare(l *letter) {
	about := []string{keyOf(l.name)}
	i := slices.IndexFunc(j.order, func(m *message) bool { return m.name == l.name })
	if i < 0 {
		j.w.breaksLocked("letter", about, "a letter of nobody: %s", l.name)
		return
	}
	m := j.order[i]
	if m.body != l.body {
		j.w.breaksLocked("letter", about, "the body of %s is %q, want %q", l.name, l.body, m.body)
	}
	attrs := maps.Clone(l.attrs)
	if !l.moved {
		delete(attrs, dlq.AttributeName)
	}
	if got, want := fmt.Sprint(describe(attrs)), fmt.Sprint(describe(m.attrs)); got != want {
		j.w.breaksLocked("letter", about, "the attributes of %s are %s, want %s", l.name, got, want)
	}
}
