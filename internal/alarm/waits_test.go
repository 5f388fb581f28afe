package alarm_test

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
)

// waitStories are about jobs that wait although nothing is broken, or where
// nobody is told that they do.
func waitStories() []scenario {
	return []scenario{
		{
			name: "the mapping is disabled, and half an hour later the producers stop", minutes: begins + 50*60,
			world: awake(from(healthy, func(w *minute, after int) {
				if stall(w, min(after, 29)); after > 29 {
					w.source.Sent = 0
				}
				w.source.OldestAge = time.Duration(after+1) * time.Minute
			})),
			alarms: map[string]int{"ConsumerStalled": 1, "QueueAge": 1, "BacklogGrows": 1, "ProducerSilent": 1},
			ends:   map[string]alarm.State{"ConsumerStalled": alarm.OK, "QueueAge": alarm.OK},
			note: "both are OK again when the metrics stop after 6 h, and QueueExpiry never fires; " +
				"ProducerSilent with `--expect-traffic` only",
		},
		{
			name: "the first job of the only FIFO group fails, waits 60, 300 and 900 s, and is dead-lettered", minutes: 150,
			world:  awake(from(oneGroup, blocked)),
			alarms: map[string]int{"ConsumerStalled": 1, "QueueAge": 1, "NotEmpty": 1, "Arrivals": 1},
			ends:   map[string]alarm.State{"ConsumerStalled": alarm.OK, "QueueAge": alarm.OK},
			note:   "with `Backoff=stepped`; the others wait behind it, visible, as order demands",
		},
		{
			name: "the same while other groups go on", minutes: 150,
			world: awake(from(oneGroup, func(w *minute, after int) {
				blocked(w, after)
				w.source.Deleted, w.source.Received, w.invocations, w.invoked = 20, 20, 2, 20+w.failed
			})),
			alarms: map[string]int{"QueueAge": 1, "NotEmpty": 1, "Arrivals": 1},
			note:   "others are finished, so ConsumerStalled is quiet",
		},
		{
			name: "runs take 12 of 15 min, and jobs wait meanwhile", minutes: begins + 80, world: awake(from(healthy, longRuns)),
			timeout: "900", values: map[string]float64{"StalledMinutes": 5},
			alarms: map[string]int{"ConsumerStalled": 7},
			note:   "with `FunctionTimeout=900` and `StalledMinutes=5`: it comes and goes with each run",
		},
		{
			name: "the same with room for a run", minutes: begins + 80, world: awake(from(healthy, longRuns)),
			timeout: "900", values: map[string]float64{"StalledMinutes": 17},
			note: "with `FunctionTimeout=900` and `StalledMinutes=17`",
		},
	}
}

// oneGroup is a minute of a FIFO queue whose jobs are all of one group.
func oneGroup() minute {
	w := healthy()
	w.source.Sent, w.source.Received, w.source.Deleted, w.invocations, w.invoked = 1, 1, 1, 1, 1
	return w
}

// blocked is a first job that fails at 0, 1, 6 and 21 minutes. What waits behind
// it is worked off after that.
func blocked(w *minute, after int) {
	if after > 21 {
		w.dead.Visible = 1
		return
	}
	w.source = sqsmetrics.Sample{
		Visible: after + 1, NotVisible: 1, Sent: 1, EmptyReceives: 100, OldestAge: time.Duration(after+1) * time.Minute,
	}
	w.invocations, w.invoked = 0, 0
	switch after {
	case 0, 1, 6:
		w.source.Received, w.invocations, w.invoked, w.failed = 1, 1, 1, 1
	case 21:
		w.source.Received, w.invocations, w.invoked, w.source.Deleted, w.dead.Visible = 1, 1, 1, 1, 1
	}
}

// longRuns finish ten jobs every 12 minutes, and others wait all the time.
func longRuns(w *minute, after int) {
	*w = minute{source: sqsmetrics.Sample{
		Visible: 10, NotVisible: 10, Sent: 1, EmptyReceives: 10, OldestAge: 12 * time.Minute,
	}}
	if after%12 == 11 {
		w.source.Deleted, w.source.Received, w.invocations, w.invoked, w.duration = 10, 10, 1, 10, 12*time.Minute
	}
}
