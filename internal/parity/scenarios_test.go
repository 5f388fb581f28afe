//go:build unix

package parity_test

import (
	"encoding/json"
	"strings"
)

// scenario is a row of the table: what is sent to a queue before the host
// starts, and how it ends on every host.
type scenario struct {
	name string
	// on are the kinds of queue; nil means both.
	on []kind
	// timeout is the function's, visibility the queue's, in seconds.
	timeout, visibility int
	// receives is the maxReceiveCount; 0 means 10.
	receives int
	// answer is what the function says in place of its answer; empty for the true one.
	answer string
	jobs   []job
	// drained: the host is told to stop while the job that holds is running.
	drained bool

	ends ending
	// chance names the jobs of which only what counts in the end is compared: chance
	// says whether they run before one that ends their process, and whether its end
	// leaves time to log and to record them.
	chance map[kind][]string
	// but says which hosts must be different, and how.
	but map[string]exception
}

type kind string

const (
	standard kind = "standard"
	fifo     kind = "fifo"
)

// job is a message, or several copies of it.
type job struct {
	id string
	do []string // by run; the last word holds for all further runs
	// text is a body that is no job.
	text   string
	group  string // of a FIFO queue; empty means the id
	copies int    // 0 means 1
	delay  int32  // in seconds
}

func does(id string, do ...string) job { return job{id: id, do: do} }

// in puts the job into a group.
func (j job) in(group string) job {
	j.group = group
	return j
}

func (j job) body() string {
	if j.text != "" {
		return j.text
	}
	body, _ := json.Marshal(map[string]any{"id": j.id, "do": j.do})
	return string(body)
}

// ending is what is to be seen when all is over.
type ending struct {
	// Jobs tells of each job by its id, which is empty for those that have none.
	Jobs map[string]jobResult
	// Crashes counts the processes that the host has lost.
	Crashes int
	// Left counts the messages that are still in the queue.
	Left int
}

// jobResult is what became of a job.
type jobResult struct {
	// Outcomes are those of its deliveries, each with reason and attempt number.
	Outcomes string
	// Runs counts its calls of the provider, and Effects the keys that these had:
	// a call takes effect once for a key.
	Runs, Effects int
	// Ledger is its item without times and names: the status, and the counts
	// that are not zero.
	Ledger string
	// Dead is what the dead-letter queue holds of it: class, reason and attempts.
	Dead string
}

// exception is a difference between hosts that lies in their nature.
type exception struct {
	because string
	// ends is nil where the end is the same all the same.
	ends *ending
}

// inTheEnd is the part of a jobResult that no chance may change.
func (f jobResult) inTheEnd() jobResult {
	status, _, _ := strings.Cut(f.Ledger, " ")
	return jobResult{Effects: f.Effects, Ledger: status, Dead: f.Dead}
}

// told is a jobResult with other outcomes.
func (f jobResult) told(outcomes string) jobResult {
	f.Outcomes = outcomes
	return f
}

// Fates that are met often.
var (
	done = jobResult{Outcomes: "done 1", Runs: 1, Effects: 1, Ledger: "COMPLETED claims 1 settled 1"}
	// doneLater has failed once.
	doneLater = jobResult{
		Outcomes: "retry tagged 1, done 2", Runs: 2, Effects: 1, Ledger: "COMPLETED claims 2 settled 2 attempts 1",
	}
	// doneAnew has taken a process with it once.
	doneAnew = jobResult{Runs: 2, Effects: 1, Ledger: "COMPLETED claims 2 settled 2"}
	dead     = jobResult{
		Outcomes: "dead tagged 1", Runs: 1, Effects: 1,
		Ledger: "DEAD claims 1 settled 1 confirmed", Dead: "permanent tagged attempts 0",
	}
	crashLoop = jobResult{
		Outcomes: "crash panic 1, crash panic 2, dead crash_loop", Runs: 2, Effects: 1,
		Ledger: "DEAD claims 3 settled 3 crashes 2 confirmed", Dead: "permanent crash_loop attempts 0",
	}
)

// holdTimeout leaves a job room that holds until all other trials are over, in seconds,
// and one that follows: on a busy machine the start alone takes many of them.
const holdTimeout = 300

var scenarios = []scenario{
	{
		name: "PartialFailure", timeout: 10, visibility: 10,
		jobs: []job{does("a", "done"), does("b", "retry", "done"), does("c", "done")},
		ends: ending{Jobs: map[string]jobResult{"a": done, "b": doneLater, "c": done}},
	},
	{
		name: "AllFailed", timeout: 10, visibility: 10,
		jobs: []job{does("a", "retry", "done"), does("b", "odd", "done")},
		ends: ending{Jobs: map[string]jobResult{
			"a": doneLater,
			"b": {
				Outcomes: "retry unclassified 1, done 2", Runs: 2, Effects: 1,
				Ledger: "COMPLETED claims 2 settled 2 attempts 1 unclassified 1",
			},
		}},
	},
	{
		name: "Poison", timeout: 10, visibility: 10,
		jobs: []job{
			does("never", "permanent"),
			{text: "no job"},
			does("exhausted", "retry"),
			does("odd", "odd"),
			does("good", "done"),
		},
		ends: ending{Jobs: map[string]jobResult{
			"never": dead,
			"":      {Outcomes: "dead decode", Dead: "permanent decode attempts 0"},
			"exhausted": {
				Outcomes: "retry tagged 1, dead exhausted 2", Runs: 2, Effects: 1,
				Ledger: "DEAD claims 2 settled 2 attempts 2 confirmed", Dead: "retryable exhausted attempts 2",
			},
			"odd": {
				Outcomes: "retry unclassified 1, dead unclassified 2", Runs: 2, Effects: 1,
				Ledger: "DEAD claims 2 settled 2 attempts 2 unclassified 2 confirmed",
				Dead:   "unclassified unclassified attempts 2",
			},
			"good": done,
		}},
	},
	{
		name: "Duplicate", timeout: 10, visibility: 10,
		jobs: []job{{id: "a", do: []string{"done"}, copies: 3}, does("b", "done")},
		ends: ending{Jobs: map[string]jobResult{
			"a": done.told("done 1, duplicate completed, duplicate completed"), "b": done,
		}},
	},
	{
		name: "Panic", timeout: 3, visibility: 3, chance: map[kind][]string{standard: {"a", "c"}},
		jobs: []job{does("a", "done"), does("b", "panic", "done"), does("c", "done")},
		ends: ending{Crashes: 1, Jobs: map[string]jobResult{
			"a": done, "b": doneAnew.told("crash panic 1, done 2"), "c": done.told("deferred after_crash, done 1"),
		}},
	},
	{
		name: "CrashLoop", timeout: 3, visibility: 3,
		jobs: []job{does("a", "panic")},
		ends: ending{Crashes: 2, Jobs: map[string]jobResult{"a": crashLoop}},
	},
	{
		// What was done before the exit was not acknowledged.
		name: "Exit", timeout: 3, visibility: 7, chance: map[kind][]string{standard: {"a", "c"}, fifo: {"a"}},
		jobs: []job{does("a", "done"), does("b", "exit", "done"), does("c", "done")},
		ends: ending{Crashes: 1, Jobs: map[string]jobResult{
			"a": done.told("done 1, duplicate completed"), "b": doneAnew.told("done 1"), "c": done,
		}},
	},
	{
		// With less time the job is cut off after half of it, and whether that is
		// its own fault is a matter of milliseconds.
		name: "SlowJob", timeout: 6, visibility: 6,
		jobs: []job{does("a", "wait", "done")},
		ends: ending{Jobs: map[string]jobResult{"a": doneLater.told("retry deadline 1, done 2")}},
	},
	{
		name: "Abandoned", timeout: 3, visibility: 7, chance: map[kind][]string{standard: {"a"}},
		jobs: []job{does("a", "done"), does("b", "hang", "done")},
		ends: ending{Crashes: 1, Jobs: map[string]jobResult{"a": done, "b": doneAnew.told("crash abandoned 1, done 2")}},
	},
	{
		name: "FunctionTimeout", timeout: 3, visibility: 7,
		chance: map[kind][]string{standard: {"a"}, fifo: {"a"}},
		jobs:   []job{does("a", "done"), does("b", "freeze", "done")},
		ends: ending{Crashes: 1, Jobs: map[string]jobResult{
			"a": done.told("done 1, duplicate completed"), "b": doneAnew.told("done 1"),
		}},
		but: map[string]exception{workerHost: {
			because: "Lambda kills a process that is out of time; a worker's is killed by what watches it, here the test",
		}},
	},
	{
		// No answer acknowledges anything, so that SQS moves at the end what is done or dead.
		name: "MalformedResponse", timeout: 3, visibility: 3, receives: 2,
		answer: `{"batchItemFailures":[{"itemIdentifier":""}]}`,
		jobs:   []job{does("a", "done"), does("b", "permanent")},
		ends: ending{Jobs: map[string]jobResult{
			"a": {
				Outcomes: "done 1, duplicate completed", Runs: 1, Effects: 1, Ledger: done.Ledger, Dead: "no record",
			},
			"b": {
				Outcomes: "dead tagged 1, duplicate dead_before", Runs: 1, Effects: 1,
				Ledger: dead.Ledger, Dead: "no record, " + dead.Dead,
			},
		}},
		but: map[string]exception{workerHost: {
			because: "there is no answer between a worker and its handler that could be malformed",
			ends:    &ending{Jobs: map[string]jobResult{"a": done, "b": dead}},
		}},
	},
	{
		name: "Group", on: []kind{fifo}, timeout: 10, visibility: 10,
		jobs: []job{
			does("a1", "retry", "done").in("a"),
			does("b1", "permanent").in("b"),
			does("a2", "done").in("a"),
			does("b2", "done").in("b"),
		},
		ends: ending{Jobs: map[string]jobResult{
			"a1": doneLater, "a2": done.told("deferred group_head, done 1"), "b1": dead, "b2": done,
		}},
	},
	{
		name: "CrashInGroup", on: []kind{fifo}, timeout: 3, visibility: 3,
		jobs: []job{does("a1", "panic").in("a"), does("a2", "done").in("a")},
		ends: ending{Crashes: 2, Jobs: map[string]jobResult{
			"a1": crashLoop, "a2": done.told("deferred group_head, deferred group_head, done 1"),
		}},
	},
	{
		name: "Drain", on: []kind{standard}, timeout: holdTimeout, visibility: holdTimeout, drained: true,
		jobs: []job{does("a", "hold"), {id: "later", do: []string{"done"}, delay: 900}},
		ends: ending{Left: 1, Jobs: map[string]jobResult{"a": done}},
	},
	{
		name: "DrainGroup", on: []kind{fifo}, timeout: holdTimeout, visibility: holdTimeout, drained: true,
		jobs: []job{does("a1", "hold").in("a"), does("a2", "done").in("a")},
		ends: ending{Jobs: map[string]jobResult{"a1": done, "a2": done}},
		but: map[string]exception{workerHost: {
			because: "an invocation runs to its end, while a worker gives back what it has not started",
			ends:    &ending{Left: 1, Jobs: map[string]jobResult{"a1": done, "a2": {Outcomes: "deferred cancelled"}}},
		}},
	},
}
