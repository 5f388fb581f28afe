//go:build unix

package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem"
)

// findings are what is there when all is over.
type findings struct {
	jobs     []*job
	accounts map[string]account // by job
	items    map[string]item    // by the ids of items
	letters  []letter
	// left counts the messages that are still in a queue, by its name.
	left map[string]int
	// excused are jobs that were hit in a second lone run, by how often they had begun.
	excused map[string]int
	// wasFrozen tells whether a process was frozen once.
	wasFrozen func(pid int) bool
}

// verdict is what the judge says.
type verdict struct {
	// broken are the promises that do not hold.
	broken []string
	// Done and dead count jobs, effects and keys what the provider has of them.
	done, dead, effects, keys int
	// calls of the provider beyond the first of each job; letters that came twice.
	repeated, doubled int
	// steps are runs of steps.
	steps   int
	excused int
}

// reasons are those for which poison is dead.
var reasons = map[end]string{
	exits: idem.ReasonCrashLoop, panics: idem.ReasonCrashLoop, hangs: idem.ReasonCrashLoop,
	refuses: fault.ReasonTagged, odd: fault.ReasonUnclassified, garbled: fault.ReasonDecode,
}

// judge says what of the findings is not as it must be.
func judge(f findings) verdict {
	var v verdict
	letters := map[string][]letter{}
	for _, l := range f.letters {
		letters[l.Body] = append(letters[l.Body], l)
	}
	for _, j := range f.jobs {
		a := f.accounts[j.id]
		v.count(a)
		v.judgeCalls(j, a, f.wasFrozen)
		if j.end == well {
			v.judgeHealthy(j, a, f, letters[j.body()])
		} else {
			v.judgePoison(j, a, f.items[j.itemID()], letters[j.body()])
		}
		delete(letters, j.body())
	}
	for _, body := range slices.Sorted(maps.Keys(letters)) {
		v.breaks("a dead letter is no job that was sent: %q", body)
	}
	for _, name := range slices.Sorted(maps.Keys(f.left)) {
		if n := f.left[name]; n > 0 {
			v.breaks("queue %s still has %d messages", name, n)
		}
	}
	v.judgeOrder(f)
	return v
}

func (v *verdict) breaks(form string, args ...any) {
	v.broken = append(v.broken, fmt.Sprintf(form, args...))
}

func (v *verdict) count(a account) {
	v.keys += len(a.keys)
	for _, times := range a.keys {
		v.effects += times
	}
	v.repeated += max(a.tried-1, 0)
}

// judgeCalls: one key for each job, no run after it is done, and no two at the same time,
// but in a process that knew nothing of the other since it was frozen.
func (v *verdict) judgeCalls(j *job, a account, wasFrozen func(int) bool) {
	keys := map[string]bool{}
	recorded := false // a job calls for its effect only when its step is
	for _, c := range a.calls {
		if c.what == "step" { // its key is its own
			if recorded && !wasFrozen(c.process) {
				v.breaks("%s runs its step again in process %d after it was recorded", j.id, c.process)
			}
			v.steps++
			continue
		}
		recorded = recorded || c.what == "effect"
		keys[c.key] = true
		if c.done && !wasFrozen(c.process) {
			v.breaks("%s runs in process %d although it is done", j.id, c.process)
		}
	}
	for _, both := range a.overlaps {
		if !wasFrozen(both[0]) {
			v.breaks("%s runs in process %d while it runs in process %d", j.id, both[1], both[0])
		}
	}
	if len(keys) > 1 || keys[""] {
		v.breaks("%s calls with the keys %q, want one", j.id, slices.Sorted(maps.Keys(keys)))
	}
	for key, times := range a.keys {
		if times != 1 {
			v.breaks("%s took effect %d times for the key %q", j.id, times, key)
		}
	}
}

func (v *verdict) judgeHealthy(j *job, a account, f findings, letters []letter) {
	status := f.items[j.itemID()].Status
	if status == dead && f.excuses(j, a, letters) {
		v.excused++
		return
	}
	if len(a.keys) != 1 {
		v.breaks("%s took effect %d times, want once", j.id, len(a.keys))
	}
	if status != completed {
		v.breaks("healthy job %s is %q in the ledger, want %s", j.id, status, completed)
	}
	for _, l := range letters {
		v.breaks("healthy job %s is dead: %s%s", j.id, l.Reason, l.Wrong)
	}
	v.done++
}

// excuses reports whether the campaign itself has made a crash loop of a healthy job: it
// hit it in its second lone run, and the job did not begin again.
func (f findings) excuses(j *job, a account, letters []letter) bool {
	hit, was := f.excused[j.id]
	return was && hit == a.begun && len(letters) > 0 && letters[0].Reason == idem.ReasonCrashLoop
}

// judgePoison: dead, with a letter that has a record. Of a standard queue a letter may
// come twice, since the answer to its sending may be lost.
func (v *verdict) judgePoison(j *job, a account, i item, letters []letter) {
	v.dead++
	if len(a.keys) > 1 {
		v.breaks("%s took effect for %d keys, want one", j.id, len(a.keys))
	}
	if len(letters) == 0 {
		v.breaks("poison %s (%s) is not dead: %q in the ledger", j.id, j.end, i.Status)
		return
	}
	if v.doubled += len(letters) - 1; len(letters) > 1 && j.queue.fifo {
		v.breaks("%s has %d dead letters, in a FIFO queue", j.id, len(letters))
	}
	confirmed := j.end == garbled // it never gets as far as the ledger
	for _, l := range letters {
		switch {
		case l.Wrong != "":
			v.breaks("the dead letter of %s (%s) has no record: %s", j.id, j.end, l.Wrong)
		case l.Reason != reasons[j.end]:
			v.breaks("the dead letter of %s (%s) says %s, want %s", j.id, j.end, l.Reason, reasons[j.end])
		case l.Queue != j.queue.name():
			v.breaks("the dead letter of %s is that of %s, want %s", j.id, l.Queue, j.queue.name())
		}
		confirmed = confirmed || l.ID == i.Letter
	}
	if !confirmed || j.end != garbled && i.Status != dead {
		v.breaks("%s (%s) is %q in the ledger with the letter %q, want %s with its own",
			j.id, j.end, i.Status, i.Letter, dead)
	}
}

// judgeOrder: in a FIFO group no job takes effect before an earlier one.
func (v *verdict) judgeOrder(f findings) {
	last := map[string]*job{}
	for _, j := range f.jobs {
		if j.group == "" || f.accounts[j.id].effect.IsZero() {
			continue
		}
		group := j.queue.name() + " " + j.group
		before := last[group]
		if before != nil && f.accounts[j.id].effect.Before(f.accounts[before.id].effect) {
			v.breaks("%s took effect before %s, which was sent before it to the same group", j.id, before.id)
		}
		last[group] = j
	}
}
