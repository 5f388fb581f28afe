//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// world is a healthy job and a poisonous one that have ended as they must, in a FIFO
// group.
func world() findings {
	good := &job{id: "good", queue: queues[1], group: "g"}
	bad := &job{id: "bad", queue: queues[1], group: "g", end: exits}
	begun := time.Now()
	dealt := func(key string, after time.Duration) account {
		return account{
			calls: []call{{what: "run", process: 1, key: key}, {what: "effect", process: 1, key: key}},
			keys:  map[string]int{key: 1}, tried: 1, effect: begun.Add(after), begun: 1,
		}
	}
	return findings{
		jobs:     []*job{good, bad},
		accounts: map[string]account{"good": dealt("k1", 0), "bad": dealt("k2", time.Second)},
		items: map[string]item{
			good.itemID(): {Status: completed},
			bad.itemID():  {Status: dead, Letter: "letter"},
		},
		letters:   []letter{{Queue: bad.queue.name(), ID: "letter", Body: bad.body(), Reason: idem.ReasonCrashLoop}},
		left:      map[string]int{"Ordered.fifo": 0},
		excused:   map[string]int{},
		wasFrozen: func(pid int) bool { return pid == 7 },
	}
}

func TestTheJudgeFindsEachBrokenPromise(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(f *findings)
		want  string
	}{
		"all is well": {func(*findings) {}, ""},
		"no effect": {func(f *findings) {
			f.accounts["good"] = account{}
		}, "good took effect 0 times, want once"},
		"an effect for each of two keys": {func(f *findings) {
			f.accounts["good"].keys["other"] = 1
		}, "good took effect 2 times, want once"},
		"two effects for a key": {func(f *findings) {
			f.accounts["good"].keys["k1"] = 2
		}, `good took effect 2 times for the key "k1"`},
		"another key at another call": {func(f *findings) {
			f.accounts["good"].calls[1].key = "other"
		}, `good calls with the keys ["k1" "other"], want one`},
		"a step that runs again after it was recorded": {func(f *findings) {
			a := f.accounts["good"]
			a.calls = append(a.calls, call{what: "step", process: 1, key: "k1-step"})
			f.accounts["good"] = a
		}, "good runs its step again in process 1 after it was recorded"},
		"a step that runs before the effect": {func(f *findings) {
			a := f.accounts["good"]
			a.calls = append([]call{{what: "step", process: 1, key: "k1-step"}}, a.calls...)
			f.accounts["good"] = a
		}, ""},
		"poison with two keys": {func(f *findings) {
			f.accounts["bad"].keys["other"] = 1
		}, "bad took effect for 2 keys, want one"},
		"a run of what is done": {func(f *findings) {
			f.accounts["good"].calls[1].done = true
		}, "good runs in process 1 although it is done"},
		"a run of what was done while the process was frozen": {func(f *findings) {
			f.accounts["good"].calls[1].done, f.accounts["good"].calls[1].process = true, 7
		}, ""},
		"two runs at the same time": {func(f *findings) {
			a := f.accounts["good"]
			a.overlaps = [][2]int{{1, 2}}
			f.accounts["good"] = a
		}, "good runs in process 2 while it runs in process 1"},
		"a run while another was frozen": {func(f *findings) {
			a := f.accounts["good"]
			a.overlaps = [][2]int{{7, 2}}
			f.accounts["good"] = a
		}, ""},
		"a healthy job that is dead": {func(f *findings) {
			f.letters = append(f.letters, letter{Body: f.jobs[0].body(), Reason: "exhausted"})
		}, "healthy job good is dead: exhausted"},
		"a healthy job that is not settled": {func(f *findings) {
			f.items["Ordered.fifo#good"] = item{Status: inProgress}
		}, `healthy job good is "INPROGRESS" in the ledger, want COMPLETED`},
		"a healthy job that was hit in its second lone run": {func(f *findings) {
			f.items["Ordered.fifo#good"] = item{Status: dead}
			f.letters = append(f.letters, letter{Body: f.jobs[0].body(), Reason: idem.ReasonCrashLoop})
			f.excused["good"] = 1
		}, ""},
		"a healthy job that was hit in its second lone run, and began again": {func(f *findings) {
			f.items["Ordered.fifo#good"] = item{Status: dead}
			f.letters = append(f.letters, letter{Body: f.jobs[0].body(), Reason: idem.ReasonCrashLoop})
			f.excused["good"] = 0
		}, "healthy job good is dead: crash_loop"},
		"poison without a letter": {func(f *findings) { f.letters = nil }, "poison bad (exit) is not dead"},
		"poison without a record": {func(f *findings) {
			f.letters[0].Wrong = "it has none"
		}, "the dead letter of bad (exit) has no record: it has none"},
		"poison with another reason": {func(f *findings) {
			f.letters[0].Reason = "exhausted"
		}, "the dead letter of bad (exit) says exhausted, want crash_loop"},
		"poison in a dead-letter queue of another": {func(f *findings) {
			f.letters[0].Queue = "Plain"
		}, "the dead letter of bad is that of Plain, want Ordered.fifo"},
		"poison whose letter is not confirmed": {func(f *findings) {
			f.items["Ordered.fifo#bad"] = item{Status: dead}
		}, `bad (exit) is "DEAD" in the ledger with the letter "", want DEAD with its own`},
		"two letters of a FIFO queue": {func(f *findings) {
			f.letters = append(f.letters, f.letters[0])
		}, "bad has 2 dead letters, in a FIFO queue"},
		"a stray letter": {func(f *findings) {
			f.letters = append(f.letters, letter{Body: "stray"})
		}, `a dead letter is no job that was sent: "stray"`},
		"a message that is left": {func(f *findings) { f.left["Plain"] = 3 }, "queue Plain still has 3 messages"},
		"a group out of order": {func(f *findings) {
			a := f.accounts["bad"]
			a.effect = a.effect.Add(-time.Minute)
			f.accounts["bad"] = a
		}, "bad took effect before good, which was sent before it to the same group"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := world()
			tt.spoil(&f)
			got := strings.Join(judge(f).broken, "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("broken: %q, want %q", got, tt.want)
			}
		})
	}
}
