package system

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// reasons are those for which a job of a kind may be dead-lettered.
var reasons = map[kind][]string{
	flaky:     {handler.ReasonExhausted},
	permanent: {"tagged"},
	halts:     {"tagged", handler.ReasonExhausted}, // its step calls the provider
	odd:       {fault.ReasonUnclassified},
	panics:    {idem.ReasonCrashLoop},
	poison:    {idem.ReasonCrashLoop},
	endless:   {handler.ReasonExhausted},
	stuck:     {idem.ReasonCrashLoop},
	garbled:   {"decode"},
	goexit:    {idem.ReasonCrashLoop},
	spawned:   {idem.ReasonCrashLoop},
	bursts:    {handler.ReasonPanic},
	keyless:   {idem.ReasonMissingKey},
	moody:     {handler.ReasonExhausted, idem.ReasonCrashLoop}, // of what is known the claims tell
}

// end judges the history as a whole.
func (j *judge) end() {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	for _, l := range j.letters {
		j.compare(l)
		j.checkBudget(l)
		j.judgeLetter(l)
	}
	for _, job := range j.w.jobs {
		s := j.state(job.name)
		for n, e := range s.epochs {
			if e.completed && s.paid == 0 && !j.w.on[failOpen] {
				j.w.breaksLocked("done", []string{job.name}, "%s is completed in epoch %d, but the provider knows nothing of it",
					job.name, n)
			}
			if e.completed && e.letters > 0 {
				j.w.breaksLocked("one outcome", []string{job.name}, "%s is completed in epoch %d and has a letter", job.name, n)
			}
		}
	}
	for _, m := range j.order {
		if m.gone == "" {
			j.w.breaksLocked("progress", []string{keyOf(m.name)}, "%s is still in the queue", m.name)
		}
	}
}

// judgeLetter says whether a message may be in the dead-letter queue.
func (j *judge) judgeLetter(l *letter) {
	k, about := kindOf(l.body), []string{keyOf(l.name)}
	scarce := !j.w.ample() || j.w.longOutage() > 0 || j.w.has(fatal)
	switch {
	case l.moved && k == fatal: // nothing was claimed, so that nobody counts
	case l.moved && j.w.has(fatal):
		// It came with one that is fatal each time: what is done could not be deleted, and
		// with several slots what is not done was decoded at the same moment.
		j.w.stats["excused: beside a fatal one"]++
	case l.moved && j.w.on[hasty] && (j.w.on[slowness] || j.w.on[spells]): // it came back too often to be kept hidden
		j.w.stats["excused: a hasty queue"]++
	case l.moved && (scarce || j.lowered || j.outlasted(l.name)):
		j.w.stats["excused: "+string(k)+" moved by SQS"]++
	case l.moved:
		j.w.breaksLocked("healthy", about, "SQS moved %s (%s)", l.name, k)
	case l.record == nil:
	case l.record.Reason == reasonUnknownKind && slices.Contains(j.w.ofRelease(l.record.FunctionVersion).unknown, k):
		j.w.stats["excused: a release that knows no such job"]++
	case l.record.Reason == idem.ReasonCrashLoop && j.state(keyOf(l.name)).killedAlone >= 2:
		j.w.stats["excused: killed twice while it ran alone"]++
	case l.record.Reason == idem.ReasonUnknownOutcome && j.w.on[unknown]:
	case l.record.Reason == handler.ReasonPanic && j.w.on[mildly]:
	case l.record.Reason == handler.ReasonMaxReceives && scarce:
		j.w.stats["excused: "+string(k)+" max_receives"]++
	case l.record.Reason == idem.ReasonConflict && (j.w.contested(j.w.job(l.name)) || j.edited[keyOf(l.name)]):
	case l.record.Reason == handler.ReasonExhausted && j.w.longOutage() > j.w.endures() && k.healthy():
		j.w.stats["excused: exhausted by an outage"]++
	case k.healthy():
		j.w.breaksLocked("healthy", about, "%s (%s) is dead-lettered: %s", l.name, k, l.record.Reason)
	case !slices.Contains(reasons[k], l.record.Reason):
		j.w.breaksLocked("reason", about, "%s (%s) is dead-lettered: %s", l.name, k, l.record.Reason)
	}
}

// longOutage is how long the longest outage lasts.
func (c *config) longOutage() time.Duration {
	longest := time.Duration(0)
	for _, o := range c.outages {
		longest = max(longest, o.to-o.from)
	}
	return longest
}

// has reports whether there are jobs of a kind.
func (c *config) has(k kind) bool {
	return slices.ContainsFunc(c.jobs, func(j *job) bool { return j.kind == k })
}

// outlasted reports whether SQS may have moved a message since a job ran for long: its
// own, of which this is a copy that came back with every lease, or another, beside which
// a job that ends its process was never alone.
func (j *judge) outlasted(name string) bool {
	longest := time.Duration(0)
	for _, other := range j.w.jobs {
		longest = max(longest, other.takes)
	}
	own := j.w.job(name)
	if own.kind.healthy() {
		longest = own.takes
	}
	return longest > time.Duration(j.w.maxReceives)*j.w.lease/3
}

// endures is how long an outage a job outlasts by its retries.
func (c *config) endures() time.Duration {
	for _, r := range c.releases {
		if r.attempts < 8 {
			return time.Second
		}
	}
	return 100 * time.Second // of 127 s, which the first run has to wait for
}

// compare checks that a letter is a message as it was sent.
func (j *judge) compare(l *letter) {
	about := []string{keyOf(l.name)}
	want := ""
	for _, m := range j.order {
		if m.name != l.name {
			continue
		}
		want = fmt.Sprint(m.body, " ", describe(originals(m.attrs)))
		if want == fmt.Sprint(l.body, " ", describe(originals(l.attrs))) {
			return
		}
	}
	j.w.breaksLocked("letter", about, "a letter of %s is %s %s, want %s",
		l.name, l.body, describe(originals(l.attrs)), want)
}

// originals are the attributes that the producer has set.
func originals[A any](attrs map[string]A) map[string]A {
	attrs = maps.Clone(attrs)
	delete(attrs, dlq.AttributeName)
	return attrs
}
