package alarm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
)

// pauseStories are about minutes for which the dead-letter queue has no metrics.
func pauseStories() []scenario {
	return []scenario{
		{
			name: "the first dead letter of a queue whose metrics had stopped", minutes: 120, wake: sqsmetrics.MaxWakeDelay,
			world: dead(steady(1)), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
			note: "the metrics of a queue start again after up to 15 min",
		},
		{
			name:    "40 dead letters in the first minute of a queue whose metrics had stopped",
			minutes: 120, wake: sqsmetrics.MaxWakeDelay,
			world: dead(steady(40)), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1},
			note: "Arrivals and Flood stand on what the function counts",
		},
		{
			name: "20 dead letters a minute into a queue whose metrics had stopped", minutes: 120, wake: sqsmetrics.MaxWakeDelay,
			world:  dead(func(after int) int { return 20 * (after + 1) }),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1},
		},
		{
			name: "nobody uses a queue of 3 dead letters, and after 6 h the metrics stop", minutes: 9 * 60,
			world: awake(dead(steady(3))), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
			ends: map[string]alarm.State{"NotEmpty": alarm.Alarm}, note: "NotEmpty stays in ALARM",
		},
		{
			name: "40 arrive, one a minute; 7 h later somebody receives from the queue", minutes: 11 * 60,
			world: awake(from(healthy, lookLater)), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
			ends: map[string]alarm.State{"NotEmpty": alarm.Alarm}, note: "receiving announces nothing",
		},
		{
			name: "all metrics are lost for 10 min", minutes: 150, world: awake(lost(10, steady(40))),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1},
			ends:   map[string]alarm.State{"NotEmpty": alarm.Alarm}, note: "nothing is announced again",
		},
		{
			name: "40 dead letters while all metrics are lost for 10 min", minutes: 150,
			world: awake(lost(10, func(after int) int {
				if after < 35 {
					return 0
				}
				return 40
			})),
			alarms: map[string]int{"NotEmpty": 1}, note: "they arrive after 35 min; what the function counts is lost with them",
		},
		{
			name: "nobody uses a queue with a dead letter for 30 h", minutes: 31 * 60, values: dayOld,
			world: awake(from(healthy, lying)), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
			ends: map[string]alarm.State{"NotEmpty": alarm.Alarm},
			note: "with `DeadLetterAgeThreshold=86400`: there is no age once the metrics have stopped",
		},
		{
			name: "the same, with an action on the queue every 5 h", minutes: 26 * 60, values: dayOld,
			world: awake(from(healthy, func(w *minute, after int) {
				if lying(w, after); after%300 == 299 {
					w.dead.EmptyReceives = 1
				}
			})),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "DeadLetterAge": 1},
			note:   "with `DeadLetterAgeThreshold=86400`",
		},
		{
			name: "nobody uses a queue with a dead letter for 9 h", minutes: 10 * 60,
			values: map[string]float64{"DeadLetterAgeThreshold": 14400},
			world:  awake(from(healthy, lying)),
			alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1, "DeadLetterAge": 1},
			ends:   map[string]alarm.State{"NotEmpty": alarm.Alarm, "DeadLetterAge": alarm.OK},
			note:   "with `DeadLetterAgeThreshold=14400`; OK again when the metrics stop",
		},
	}
}

var dayOld = map[string]float64{"DeadLetterAgeThreshold": 86400}

// lying is a dead letter that has come in the first minute.
func lying(w *minute, after int) {
	w.dead.Visible, w.dead.OldestAge = 1, time.Duration(after+1)*time.Minute
}

// lookLater has 40 dead letters, which somebody reads seven hours after the last.
func lookLater(w *minute, after int) {
	w.dead.Visible = min(after+1, 40)
	if after == 40+7*60 {
		w.dead.Visible, w.dead.NotVisible, w.dead.Received = 30, 10, 10
	}
}

// lost has a depth of the dead-letter queue, and after half an hour a number of
// minutes in which no metric is published.
func lost(gap int, depth func(after int) int) func(m int) minute {
	return from(healthy, func(w *minute, after int) {
		w.dead.Visible, w.lost = depth(after), after >= 30 && after < 30+gap
	})
}

// Dead letters that lie there are announced once, however long metrics are
// lost, and a look into the queue is no flood, however long it slept.
func TestOldDeadLettersAreNotAnnouncedAgain(t *testing.T) {
	t.Parallel()
	u := watchedBy(charge(), nil, all...)
	once := map[string]int{"NotEmpty": 1, "Arrivals": 1, "Flood": 1}
	var stories []scenario
	for gap := 1; gap <= 10; gap++ {
		stories = append(stories, scenario{
			name: fmt.Sprintf("%d minutes lost", gap), minutes: 120, world: awake(lost(gap, steady(40))), alarms: once,
		})
	}
	for _, wake := range []time.Duration{0, time.Minute, 7 * time.Minute, sqsmetrics.MaxWakeDelay} {
		stories = append(stories, scenario{
			name: fmt.Sprintf("a look that shows after %v", wake), minutes: 11 * 60, wake: wake,
			world: from(healthy, lookLater), alarms: map[string]int{"NotEmpty": 1, "Arrivals": 1},
		})
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t, u)
		})
	}
}
