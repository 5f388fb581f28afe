package alarm_test

import (
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
)

// rare is a minute of a queue that gets one job every so many minutes.
func rare(m, every int) minute {
	w := quiet()
	if m%every == 0 {
		w.source.Sent, w.source.Received, w.source.Deleted, w.invocations, w.invoked = 1, 1, 1, 1, 1
	}
	return w
}

// stuck has jobs of which none is done from the beginning of the trouble on. Each
// is received so many minutes after it came; run says what comes of it.
func stuck(every int, receives func(age int) bool, run func(w *minute, n int)) func(m int) minute {
	return awake(func(m int) minute {
		if m < begins {
			return rare(m, every)
		}
		w := quiet()
		for came := begins; came <= m; came++ {
			if came%every != 0 {
				continue
			}
			w.source.NotVisible++
			if receives(m - came) {
				w.source.Received++
			}
			if m == came {
				w.source.Sent++
			}
		}
		// Messages that were received three times do not count.
		w.source.OldestAge = time.Duration(min(m-begins, 7)) * time.Minute
		run(&w, w.source.Received)
		return w
	})
}

// stepped are the receives of a job that fails as environment: 1, 5 and then 15
// minutes apart.
func stepped(age int) bool { return age == 0 || age == 1 || age >= 6 && (age-6)%15 == 0 }

// doubling are those of a job with a wait that doubles from a second to 5 minutes.
func doubling(age int) bool {
	return slices.Contains([]int{0, 1, 2, 4}, age) || age >= 8 && (age-8)%5 == 0
}

// hidden are those of a job that comes back when its visibility timeout ends.
func hidden(age int) bool { return age%3 == 0 }

func fail(w *minute, n int) { w.invocations, w.invoked, w.failed = n, n, n }

func postpone(w *minute, n int) {
	fail(w, n)
	w.deferred = n
}

// quietStories are about little traffic, where a share of failures says nothing.
func quietStories() []scenario {
	silent := map[string]int{"SilentJobs": 1, "BacklogGrows": 1}
	return []scenario{
		{
			rare: true, name: "one job every 10 min, and all fail as `environment`", minutes: begins + 180,
			world: stuck(10, stepped, fail), alarms: silent, often: []string{"SilentJobs"},
		},
		{
			rare: true, name: "one job every 2 min, and all fail as `environment`", minutes: begins + 180,
			world: stuck(2, stepped, fail), alarms: silent,
		},
		{
			rare: true, name: "one job an hour, and all fail as `environment`", minutes: begins + 180,
			world: stuck(60, stepped, fail), alarms: map[string]int{"SilentJobs": 1},
			often: []string{"SilentJobs"}, note: "the failures of a single job are 15 min apart at last, so it comes and goes",
		},
		{
			rare: true, name: "one job every 10 min, and the ledger is down", minutes: begins + 180,
			world: stuck(10, doubling, fail), alarms: silent,
		},
		{
			rare: true, name: "one job every 2 min, and the breaker is open", minutes: begins + 180,
			world:  stuck(2, doubling, postpone),
			alarms: map[string]int{"SilentJobs": 1, "BacklogGrows": 1, "PartialFailures": 1}, often: []string{"PartialFailures"},
		},
		{
			rare: true, name: "60 jobs a minute, and all fail as `environment`", minutes: begins + 120,
			world: awake(from(healthy, func(w *minute, after int) {
				w.failed, w.source.Deleted, w.source.NotVisible = 60, 0, 60*(after+1)
			})),
			alarms: map[string]int{"SilentJobs": 1, "PartialFailures": 1, "BacklogGrows": 1},
		},
		{
			rare: true, name: "one job every 10 min, and Lambda throttles all", minutes: begins + 180,
			world: stuck(10, hidden, func(w *minute, n int) { w.throttles = n }),
			alarms: map[string]int{
				"Throttles": 1, "BacklogGrows": 1,
			},
			note: "after 90 min (30 receives) SQS moves the first job to the dead-letter queue, unrun",
		},
		{
			rare: true, name: "one job every 10 min, and the function cannot start", minutes: begins + 180,
			world: stuck(10, hidden, func(w *minute, n int) {
				w.invocations, w.errors, w.invoked, w.failed = n, n, n, n
			}),
			alarms: map[string]int{"FunctionErrors": 1, "BacklogGrows": 1},
		},
		{
			rare: true, name: "one job at night fails for 30 s and then succeeds", minutes: begins + 120,
			world: awake(func(m int) minute {
				w := rare(m, 60)
				switch m {
				case begins:
					w.source.Deleted, w.invocations, w.invoked, w.failed = 0, 5, 5, 5
				case begins + 1:
					w.source.Received, w.source.Deleted, w.invocations, w.invoked = 1, 1, 1, 1
				}
				return w
			}),
			note: "a failure that passes within 10 min wakes nobody",
		},
		{
			rare: true, name: "one job waits for hours, and there is no other", minutes: begins + 240,
			world: awake(from(quiet, func(w *minute, after int) {
				w.source.NotVisible = 1
				if after == 0 {
					w.source.Sent, w.source.Received, w.invocations, w.invoked, w.failed = 1, 1, 1, 1, 1
				}
			})),
			note: "a provider's Retry-After",
		},
		{
			rare: true, name: "3,000 jobs at once, worked off in 10 min", minutes: begins + 60,
			world: awake(from(quiet, func(w *minute, after int) {
				if left := 3000 - 300*(after+1); left >= 0 {
					w.source = sqsmetrics.Sample{
						Visible: left, NotVisible: 50, Received: 300, Deleted: 300, Sent: 3000 * max(0, 1-after),
						OldestAge: time.Duration(after+1) * time.Minute,
					}
					w.invocations, w.invoked = 30, 300
				}
			})),
		},
		{
			rare: true, name: "one poison job crashes the process twice and is dead", minutes: begins + 60,
			world: awake(from(healthy, func(w *minute, after int) {
				if after == 0 || after == 3 {
					w.errors, w.failed, w.source.Deleted, w.own = 1, 10, 50, map[string]int{"Crash": 1}
				}
				if after >= 6 {
					w.dead.Visible = 1
				}
			})),
			alarms: map[string]int{"FunctionErrors": 1, "NotEmpty": 1, "Arrivals": 1},
		},
		{
			rare: true, name: "a job that succeeded cannot be recorded", minutes: begins + 60,
			world: awake(from(healthy, func(w *minute, after int) {
				if after == 0 {
					w.own = map[string]int{"Unrecorded": 1}
				}
			})),
			alarms: map[string]int{"BrokenPromises": 1}, ends: map[string]alarm.State{"BrokenPromises": alarm.OK},
			note: "the same for a dead letter that is not sent, and a visibility timeout that is not set",
		},
		{
			rare: true, name: "SQS moves 40 jobs without a record to a queue whose metrics had stopped", minutes: begins + 60,
			wake: sqsmetrics.MaxWakeDelay,
			world: from(healthy, func(w *minute, _ int) {
				w.dead.Visible, w.moved = 40, true
			}),
			alarms: map[string]int{"NotEmpty": 1}, note: "NotEmpty is the net: the function does not count these",
		},
	}
}

// workerStories are about a worker in place of the function.
func workerStories() []scenario {
	base := func() minute {
		w := healthy()
		w.invocations = 6
		return w
	}
	return []scenario{
		{
			rare: true, name: "a worker without jobs", worker: true, minutes: begins + 60,
			world: awake(func(int) minute { return quiet() }), note: "it reports every minute",
		},
		{
			rare: true, name: "a job crashes a worker", worker: true, minutes: begins + 60,
			world: awake(from(base, func(w *minute, after int) {
				if after == 0 {
					w.own = map[string]int{"Crash": 1}
				}
			})),
			alarms: map[string]int{"WorkerCrash": 1},
		},
		{
			rare: true, name: "no worker runs", worker: true, minutes: begins + 60,
			world: awake(from(base, func(w *minute, after int) {
				stall(w, after)
				w.gone = true
			})),
			alarms: map[string]int{"WorkerMissing": 1, "ConsumerStalled": 1, "QueueAge": 1, "BacklogGrows": 1},
		},
	}
}
