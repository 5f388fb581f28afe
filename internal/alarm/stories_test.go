package alarm_test

import (
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

// old has one dead letter that has been there for most of a day.
func old(w *minute, after int) {
	w.dead.Visible, w.dead.OldestAge = 1, 23*time.Hour+time.Duration(after+1)*time.Minute
}

func steady(n int) func(int) int { return func(int) int { return n } }

const badDeployment = "a bad deployment: every job crashes or is dead-lettered"

func scenarios() []scenario {
	return append(deadLetterStories(), consumerStories()...)
}

// deadLetterStories are about the dead-letter queue.
func deadLetterStories() []scenario {
	return []scenario{
		{
			name: "an hour of healthy traffic", minutes: 120, world: awake(healthyAt),
		},
		{
			name: "a night without a job", minutes: 9 * 60, world: quietAt, alarms: map[string]int{"ProducerSilent": 1},
			note: "ProducerSilent is there with `ExpectTraffic=true` only",
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
			name: "the first dead letter of a queue that slept", minutes: 120, wake: sqsmetrics.MaxWakeDelay,
			world: dead(steady(1)), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
			note: "SQS wakes a queue's metrics in up to 15 min",
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
			name: "a flood into a queue that slept", minutes: 120, wake: sqsmetrics.MaxWakeDelay, world: dead(steady(40)),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1},
			note:   "too late to roll back a canary of 5 min",
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
			name: "the metrics of a minute are lost", minutes: 150, prompt: true,
			world:  awake(from(healthy, func(w *minute, after int) { w.dead.Visible, w.lost = 5, after == 30 })),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1}, ends: map[string]alarm.State{"NotEmpty": alarm.Alarm},
			note: "nothing is announced again; where the others come late too, Arrivals may do so",
		},
		{
			name: "somebody looks into the queue", minutes: 150, world: awake(from(healthy, look)),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1}, ends: map[string]alarm.State{"NotEmpty": alarm.Alarm},
			note: "what is read is in flight and counts: nothing new is announced",
		},
		{
			name: "nobody touches 3 dead letters, and after 6 h the metrics stop", minutes: 9 * 60,
			world: awake(dead(steady(3))), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
			ends: map[string]alarm.State{"NotEmpty": alarm.Alarm}, note: "NotEmpty stays in ALARM",
		},
		{
			name: "the same, and somebody looks after 7 h", minutes: 9 * 60,
			world: awake(from(healthy, func(w *minute, after int) {
				w.dead.Visible = 3
				if after == 7*60 {
					w.dead.Received = 3
				}
			})),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 2}, ends: map[string]alarm.State{"NotEmpty": alarm.Alarm},
			note: "Arrivals announces once more what was there",
		},
		{
			name: "nobody sends a dead letter back for a day", minutes: 150,
			world:  awake(from(healthy, old)),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "DeadLetterAge": 1},
			note:   "it begins after 23 h",
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
