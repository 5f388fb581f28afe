package alarm_test

import (
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
)

// healthy is a minute of 60 jobs, all of which succeed. Lambda polls all the
// time and so keeps the source queue's metrics coming.
func healthy() minute {
	return minute{
		source: sqsmetrics.Sample{
			NotVisible: 2, Sent: 60, Received: 60, Deleted: 60, EmptyReceives: 100, OldestAge: time.Second,
		},
		invocations: 6, invoked: 60,
	}
}

// quiet is a minute without jobs.
func quiet() minute { return minute{source: sqsmetrics.Sample{EmptyReceives: 100}} }

// from plays a minute that is changed from the beginning of the trouble on;
// after is 0 in its first minute.
func from(base func() minute, change func(w *minute, after int)) func(m int) minute {
	return func(m int) minute {
		w := base()
		if m >= begins {
			change(&w, m-begins)
		}
		return w
	}
}

// awake makes somebody have looked into the dead-letter queue at the start.
func awake(world func(m int) minute) func(m int) minute {
	return func(m int) minute {
		w := world(m)
		if m == 0 {
			w.dead.EmptyReceives = 1
		}
		return w
	}
}

// dead has the depth of the dead-letter queue only.
func dead(depth func(after int) int) func(m int) minute {
	return from(healthy, func(w *minute, after int) { w.dead.Visible = depth(after) })
}

func steady(n int) func(int) int { return func(int) int { return n } }

func scenarios() []scenario {
	return slices.Concat(
		deadLetterStories(), pauseStories(), consumerStories(), waitStories(), quietStories(), workerStories(),
	)
}

// deadLetterStories are about the dead-letter queue.
func deadLetterStories() []scenario {
	return []scenario{
		{
			name: "an hour of healthy traffic", minutes: 120, world: awake(healthyAt),
		},
		{
			name: "a night without a job", minutes: 9 * 60, world: quietAt, alarms: map[string]int{"ProducerSilent": 1},
			note: "ProducerSilent is there with `--expect-traffic` only",
		},
		{
			name: "a night without a job and without polling", minutes: 9 * 60,
			world: awake(from(healthy, func(w *minute, _ int) { *w = minute{} })), alarms: map[string]int{"ProducerSilent": 1},
			ends: map[string]alarm.State{"ProducerSilent": alarm.Alarm}, note: "it stays when the metrics stop after 6 h",
		},
		{
			name: "the first dead letter", minutes: 120, world: awake(dead(steady(1))),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
		},
		{
			name: "one more every 10 min, three times, while NotEmpty is in ALARM", minutes: 150,
			world:  awake(dead(func(after int) int { return 1 + min(after/10, 3) })),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 4},
			note:   "the depth is announced once, each arrival by Arrivals",
		},
		{
			name: "a slow leak: one every half hour for 6 h", minutes: 420,
			world:  awake(dead(func(after int) int { return 1 + after/30 })),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 12},
		},
		{
			name: "a flood: 40 in one minute", minutes: 120, world: awake(dead(steady(40))),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1},
		},
		{
			name: "a flood on top of old dead letters", minutes: 150,
			world: awake(dead(func(after int) int {
				if after < 30 {
					return 2
				}
				return 42
			})),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 2, "Flood": 1},
			note:   "the flood comes 30 min later",
		},
		{
			name: "dead letters are sent back after half an hour", minutes: 150,
			world:  awake(dead(func(after int) int { return max(0, 5-5*(after/30)) })),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1}, ends: map[string]alarm.State{
				"NotEmpty": alarm.OK, "Arrivals": alarm.OK,
			},
			note: "NotEmpty returns to OK once the queue is empty",
		},
		{
			name: "somebody receives from the queue", minutes: 150, world: awake(from(healthy, look)),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1}, ends: map[string]alarm.State{"NotEmpty": alarm.Alarm},
			note: "received letters are in flight and count: nothing new is announced",
		},
	}
}

func healthyAt(int) minute { return healthy() }

func quietAt(m int) minute {
	if m < begins {
		return healthy()
	}
	return quiet()
}

// look has three dead letters, which are in flight for a while.
func look(w *minute, after int) {
	w.dead.Visible = 3
	if after >= 30 && after < 33 {
		w.dead.Visible, w.dead.NotVisible, w.dead.Received = 0, 3, 3
	}
}
