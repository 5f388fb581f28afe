package alarm_test

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
)

// consumerStories are about the function and its source queue.
func consumerStories() []scenario {
	return []scenario{
		{
			name: "the consumer stalls: nothing is received any more", minutes: 180, world: awake(from(healthy, stall)),
			alarms: map[string]int{"ConsumerStalled": 1, "QueueAge": 1, "BacklogGrows": 1},
		},
		{
			name: "the consumer is slow: half of the jobs wait", minutes: 120,
			world: awake(from(healthy, func(w *minute, after int) {
				w.source.Deleted, w.source.Received, w.invoked = 30, 30, 30
				w.source.Visible, w.source.OldestAge = 30*(after+1), time.Duration(after+1)*30*time.Second
			})),
			alarms: map[string]int{"QueueAge": 1},
		},
		{
			name: "a job that has waited for 47 h keeps waiting", minutes: 150,
			world: awake(from(healthy, func(w *minute, after int) {
				w.source.Visible, w.source.OldestAge = 1, 47*time.Hour+time.Duration(after+1)*time.Minute
			})),
			alarms: map[string]int{"QueueAge": 1, "QueueExpiry": 1},
			note:   "others are finished meanwhile, so ConsumerStalled is quiet",
		},
		{
			name: "the function crashes in every batch", minutes: 120, world: awake(from(healthy, crash)),
			alarms: map[string]int{"FunctionErrors": 1, "PartialFailures": 1},
		},
		{
			name: "the function crashes in one minute", minutes: 120,
			world: awake(from(healthy, func(w *minute, after int) {
				if after == 0 {
					crash(w, after)
				}
			})),
			alarms: map[string]int{"FunctionErrors": 1}, ends: map[string]alarm.State{"FunctionErrors": alarm.OK},
		},
		{
			name: "the function runs every 10 min and crashes each time", minutes: 180,
			world: awake(func(m int) minute {
				if m%10 > 0 {
					return quiet()
				}
				w := healthy()
				if m >= begins {
					crash(&w, 0)
				}
				return w
			}),
			alarms: map[string]int{"FunctionErrors": 1}, often: []string{"FunctionErrors"}, note: "it may return to OK between",
		},
		{
			name: "a storm of partial failures: half of each batch", minutes: 120,
			world:  awake(from(healthy, func(w *minute, _ int) { w.failed, w.source.Deleted = 30, 30 })),
			alarms: map[string]int{"PartialFailures": 1},
			note:   "FunctionErrors does not see these",
		},
		{
			name: "some jobs fail in every fourth minute", minutes: 180,
			world: awake(from(healthy, func(w *minute, after int) {
				if after%4 == 0 {
					w.failed = 6
				}
			})),
			note: "3 of 5 minutes are needed",
		},
		{
			name: "6 jobs a minute, and all of them fail", minutes: 120,
			world: awake(from(healthy, func(w *minute, _ int) {
				w.source = sqsmetrics.Sample{NotVisible: 6, Sent: 6, Received: 6, EmptyReceives: 100, OldestAge: time.Minute}
				w.invocations, w.invoked, w.failed = 1, 6, 6
			})),
			alarms: map[string]int{"SilentJobs": 1}, note: "a share counts from 10 jobs a minute",
		},
		{
			name: "a bad deployment at once: every job crashes or is dead-lettered", minutes: 120,
			world: awake(from(healthy, func(w *minute, after int) {
				crash(w, after)
				w.dead.Visible = 20 * (after + 1)
			})),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1, "FunctionErrors": 1, "PartialFailures": 1},
		},
		{
			name: "the same, rolled back after 6 min", minutes: 120,
			world: awake(from(healthy, func(w *minute, after int) {
				if after < 6 {
					crash(w, after)
				}
				w.dead.Visible = 20 * min(after+1, 6)
			})),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1, "FunctionErrors": 1, "PartialFailures": 1},
			ends: map[string]alarm.State{
				"NotEmpty": alarm.Alarm, "Flood": alarm.OK, "FunctionErrors": alarm.OK, "PartialFailures": alarm.OK,
			},
			note: "all but NotEmpty return to OK",
		},
		{
			name: "Lambda throttles in every minute", minutes: 120,
			world:  awake(from(healthy, func(w *minute, _ int) { w.throttles = 3 })),
			alarms: map[string]int{"Throttles": 1},
		},
		{
			name: "batches take 28 of 30 s", minutes: 120,
			world:  awake(from(healthy, func(w *minute, _ int) { w.duration = 28 * time.Second })),
			alarms: map[string]int{"NearTimeout": 1},
		},
		{
			name: "100,000 messages wait for their next attempt", minutes: 120,
			world:  awake(from(healthy, func(w *minute, _ int) { w.source.NotVisible = 100_000 })),
			alarms: map[string]int{"InFlight": 1},
		},
	}
}

// stall is a mapping that is disabled: nobody polls, producers go on.
func stall(w *minute, after int) {
	w.invocations, w.invoked = 0, 0
	w.source = sqsmetrics.Sample{
		Visible: 60 * (after + 1), Sent: 60, OldestAge: time.Duration(after+1) * time.Minute,
	}
}

// crash ends every invocation with an error, so that all jobs come back.
func crash(w *minute, _ int) {
	w.errors, w.failed, w.source.Deleted = w.invocations, w.invoked, 0
}
