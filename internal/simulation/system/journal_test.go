package system

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// entry is a line of the journal: what happened, where, and which jobs it is about.
type entry struct {
	at   time.Duration
	who  string
	what string
	jobs []string
}

func (e entry) String() string {
	return fmt.Sprintf("%11.4fs %-5s %s", e.at.Seconds(), e.who, e.what)
}

// note writes a line of the journal.
func (w *world) note(who string, jobs []string, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteLocked(who, jobs, format, args...)
}

func (w *world) noteLocked(who string, jobs []string, format string, args ...any) {
	w.journal = append(w.journal, entry{w.now(), who, fmt.Sprintf(format, args...), jobs})
}

// tally counts that something has happened.
func (w *world) tally(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats[what]++
}

// breaks notes that a promise is broken.
func (w *world) breaks(promise string, jobs []string, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaksLocked(promise, jobs, format, args...)
}

func (w *world) breaksLocked(promise string, jobs []string, format string, args ...any) {
	if w.on[rekeyed] && slices.Contains(rekeys, promise) {
		w.stats["excused: "+promise+" of a job with two keys"]++
		return
	}
	b := breach{promise: promise, text: fmt.Sprintf(format, args...), jobs: jobs}
	w.breaches = append(w.breaches, b)
	w.noteLocked("JUDGE", jobs, "BROKEN %s: %s", promise, b.text)
}

// breach is a promise that was broken.
type breach struct {
	promise, text string
	jobs          []string
}

// excerpt is the last lines of the journal that are about the jobs, or about none.
// Lines that say the same as one shortly before are left out.
func (w *world) excerpt(jobs []string, most int) string {
	var lines, recent []string
	for _, e := range w.journal {
		about := len(e.jobs) == 0 || len(jobs) == 0 ||
			slices.ContainsFunc(e.jobs, func(j string) bool { return slices.Contains(jobs, keyOf(j)) })
		if !about {
			continue
		}
		if slices.Contains(recent, e.who+e.what) {
			continue
		}
		recent = append(recent, e.who+e.what)
		recent = recent[max(0, len(recent)-6):]
		lines = append(lines, e.String())
	}
	if len(lines) > most {
		lines = append([]string{fmt.Sprintf("(%d lines before)", len(lines)-most)}, lines[len(lines)-most:]...)
	}
	return strings.Join(lines, "\n")
}
