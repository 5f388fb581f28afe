//go:build unix

package parity_test

import "encoding/json"

// scenario is a row of the table: the messages that are sent to a queue before
// the host starts, and the final state on every host.
type scenario struct {
	name string
	// on lists the kinds of queue; nil means both.
	on []kind
	// timeout is that of the function, visibility that of the queue, in
	// seconds.
	timeout, visibility int
	// receives is the maxReceiveCount; 0 means 10.
	receives int
	// answer replaces the function's answer; empty means no replacement.
	answer string
	jobs   []job
	// drained: the host is told to stop while the job that holds is running.
	drained bool

	want finalState
	// exceptions lists the hosts that must differ, and how.
	exceptions map[string]exception
}

type kind string

const (
	standard kind = "standard"
	fifo     kind = "fifo"
)

// job is a message, or several copies of it.
type job struct {
	id string
	do []string // by run; the last entry is for all further runs
	// text is a body that is not a job.
	text   string
	group  string // message group in a FIFO queue; empty means the id
	copies int    // 0 means 1
	delay  int32  // in seconds
}

func does(id string, do ...string) job { return job{id: id, do: do} }

// in returns the job with a message group.
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

// finalState is the final state of a trial.
type finalState struct {
	// Jobs has the result of each job by its id, which is empty for a body that
	// is not a job.
	Jobs map[string]jobResult
	// Crashes counts the processes of the host that ended unexpectedly.
	Crashes int
	// Left counts the messages that are still in the queue.
	Left int
}

// jobResult is the result of a job.
type jobResult struct {
	// Outcomes are the outcomes of its deliveries, each with reason and attempt
	// number.
	Outcomes string
	// Runs counts its calls of the provider, Effects the distinct keys of these
	// calls: a call takes effect once for a key.
	Runs, Effects int
	// Ledger describes its item without times and names: the status, and the
	// counts that are not zero.
	Ledger string
	// Dead describes its dead letter: class, reason and attempts.
	Dead string
}

// exception is a difference between hosts that cannot be avoided.
type exception struct {
	because string
	// want is the different final state; nil if it is the same.
	want *finalState
}

// with returns the result with other outcomes.
func (f jobResult) with(outcomes string) jobResult {
	f.Outcomes = outcomes
	return f
}

// Results of several scenarios.
var (
	done = jobResult{Outcomes: "done 1", Runs: 1, Effects: 1, Ledger: "COMPLETED claims 1 settled 1"}
	// doneLater failed in its first run.
	doneLater = jobResult{
		Outcomes: "retry tagged 1, done 2", Runs: 2, Effects: 1, Ledger: "COMPLETED claims 2 settled 2 attempts 1",
	}
	// doneAfterCrash ended its process in its first run.
	doneAfterCrash = jobResult{Runs: 2, Effects: 1, Ledger: "COMPLETED claims 2 settled 1"}
	dead           = jobResult{
		Outcomes: "dead tagged 1", Runs: 1, Effects: 1,
		Ledger: "DEAD claims 1 settled 1 confirmed", Dead: "permanent tagged attempts 0",
	}
	crashLoop = jobResult{
		Outcomes: "crash panic 1, crash panic 2, dead crash_loop", Runs: 2, Effects: 1,
		Ledger: "DEAD claims 3 settled 1 crashes 2 confirmed", Dead: "permanent crash_loop attempts 0",
	}
)

var scenarios = []scenario{
	{
		name: "PartialFailure", timeout: 10, visibility: 10,
		jobs: []job{does("a", "done"), does("b", "retry", "done"), does("c", "done")},
		want: finalState{Jobs: map[string]jobResult{"a": done, "b": doneLater, "c": done}},
	},
	{
		name: "AllFailed", timeout: 10, visibility: 10,
		jobs: []job{does("a", "retry", "done"), does("b", "odd", "done")},
		want: finalState{Jobs: map[string]jobResult{
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
		want: finalState{Jobs: map[string]jobResult{
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
		want: finalState{Jobs: map[string]jobResult{
			"a": done.with("done 1, duplicate completed, duplicate completed"), "b": done,
		}},
	},
	{
		name: "Panic", timeout: 3, visibility: 3,
		jobs: []job{does("a", "done"), does("b", "panic", "done"), does("c", "done")},
		want: finalState{Crashes: 1, Jobs: map[string]jobResult{
			"a": done, "b": doneAfterCrash.with("crash panic 1, done 2"), "c": done.with("deferred after_crash, done 1"),
		}},
	},
	{
		name: "CrashLoop", timeout: 3, visibility: 3,
		jobs: []job{does("a", "panic")},
		want: finalState{Crashes: 2, Jobs: map[string]jobResult{"a": crashLoop}},
	},
	{
		// The message that was done before the exit was not deleted, so it is
		// delivered again.
		name: "Exit", timeout: 3, visibility: 7,
		jobs: []job{does("a", "done"), does("b", "exit", "done"), does("c", "done")},
		want: finalState{Crashes: 1, Jobs: map[string]jobResult{
			"a": done.with("done 1, duplicate completed"), "b": doneAfterCrash.with("done 1"), "c": done,
		}},
	},
	{
		// With less time the job is cancelled after half of it. Then a few
		// milliseconds decide whether the timeout counts as its own fault.
		name: "SlowJob", timeout: 6, visibility: 6,
		jobs: []job{does("a", "wait", "done")},
		want: finalState{Jobs: map[string]jobResult{"a": doneLater.with("retry deadline 1, done 2")}},
	},
	{
		name: "Abandoned", timeout: 3, visibility: 7,
		jobs: []job{does("a", "done"), does("b", "hang", "done")},
		want: finalState{Crashes: 1, Jobs: map[string]jobResult{
			"a": done, "b": doneAfterCrash.with("crash abandoned 1, done 2"),
		}},
	},
	{
		name: "FunctionTimeout", timeout: 3, visibility: 7,
		jobs: []job{does("a", "done"), does("b", "freeze", "done")},
		want: finalState{Crashes: 1, Jobs: map[string]jobResult{
			"a": done.with("done 1, duplicate completed"), "b": doneAfterCrash.with("done 1"),
		}},
		exceptions: map[string]exception{workerHost: {
			because: "Lambda kills a process that is out of time; a worker's is killed by what watches it, here the test",
		}},
	},
	{
		// A malformed answer deletes no message. Jobs that are done or dead are
		// therefore deleted at a repeated delivery near the end of the queue's
		// receives.
		name: "MalformedResponse", timeout: 3, visibility: 3, receives: 2,
		answer: `{"batchItemFailures":[{"itemIdentifier":""}]}`,
		jobs:   []job{does("a", "done"), does("b", "permanent")},
		want: finalState{Jobs: map[string]jobResult{
			"a": {
				Outcomes: "done 1, duplicate completed", Runs: 1, Effects: 1, Ledger: done.Ledger,
			},
			"b": {
				Outcomes: "dead tagged 1, duplicate dead_before", Runs: 1, Effects: 1,
				Ledger: dead.Ledger, Dead: dead.Dead,
			},
		}},
		exceptions: map[string]exception{workerHost: {
			because: "there is no answer between a worker and its handler that could be malformed",
			want:    &finalState{Jobs: map[string]jobResult{"a": done, "b": dead}},
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
		want: finalState{Jobs: map[string]jobResult{
			"a1": doneLater, "a2": done.with("deferred group_head, done 1"), "b1": dead, "b2": done,
		}},
	},
	{
		name: "CrashInGroup", on: []kind{fifo}, timeout: 3, visibility: 3,
		jobs: []job{does("a1", "panic").in("a"), does("a2", "done").in("a")},
		want: finalState{Crashes: 2, Jobs: map[string]jobResult{
			"a1": crashLoop, "a2": done.with("deferred after_crash, deferred after_crash, done 1"),
		}},
	},
	{
		name: "Drain", on: []kind{standard}, timeout: 10, visibility: 10, drained: true,
		jobs: []job{
			does("a", "hold"),
			does("b", "done"),
			{id: "later", do: []string{"done"}, delay: 900},
		},
		want: finalState{Left: 1, Jobs: map[string]jobResult{"a": done, "b": done}},
		exceptions: map[string]exception{workerHost: {
			because: "an invocation runs to its end, while a worker gives back what it has not started",
			want:    &finalState{Left: 2, Jobs: map[string]jobResult{"a": done, "b": {Outcomes: "deferred cancelled"}}},
		}},
	},
	{
		name: "DrainGroup", on: []kind{fifo}, timeout: 10, visibility: 10, drained: true,
		jobs: []job{does("a1", "hold").in("a"), does("a2", "done").in("a")},
		want: finalState{Jobs: map[string]jobResult{"a1": done, "a2": done}},
		exceptions: map[string]exception{workerHost: {
			because: "an invocation runs to its end, while a worker gives back what it has not started",
			want:    &finalState{Left: 1, Jobs: map[string]jobResult{"a1": done, "a2": {Outcomes: "deferred cancelled"}}},
		}},
	},
}
