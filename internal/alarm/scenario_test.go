package alarm_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarmset"
)

// begins is the minute in which the trouble of a scenario begins.
const begins = 60

// scenario is a story that is played to the alarms.
type scenario struct {
	name string
	// wake is how late the dead-letter queue's metrics come when it has slept.
	wake    time.Duration
	minutes int
	world   func(m int) minute
	// values are the parameters of the template that are not their defaults, and
	// timeout is that of the function in seconds; empty for 30.
	values  map[string]float64
	timeout string
	// worker plays the story to a worker, rare leaves out ProducerSilent, which is not
	// for queues of little traffic.
	worker, rare bool
	// alarms are how often each role goes to ALARM; the others never do.
	alarms map[string]int
	// often are roles that go to ALARM once or more: how often depends on how far back
	// CloudWatch looks, since most periods have no data.
	often []string
	// ends are the states in the end, of roles where they matter.
	ends map[string]alarm.State
	// note is what the table says besides.
	note string
}

// outcome is what all readings together say of a role.
type outcome struct {
	// first and last are the minutes from the trouble to the first ALARM, in the
	// quickest and the slowest of the readings.
	first, last int
	count       int
}

// ending is how often a role goes to ALARM in a reading, and its state in the end.
type ending struct {
	count int
	state alarm.State
}

// endings are those of the roles whose state changes.
func endings(changes map[string][]alarm.Transition) map[string]ending {
	out := map[string]ending{}
	for role, all := range changes {
		e := ending{state: all[len(all)-1].To}
		for _, c := range all {
			if c.To == alarm.Alarm {
				e.count++
			}
		}
		out[role] = e
	}
	return out
}

// unit has the alarms that the story is played to.
func (s scenario) unit() unit {
	u := charge()
	if s.worker {
		u = atWorker()
	}
	u.Timeout = cmp.Or(s.timeout, u.Timeout)
	sets := all
	if s.rare {
		sets = []alarmset.Set{alarmset.Basic, alarmset.Full}
	}
	return watchedBy(u, s.values, sets...)
}

// play runs a scenario in its readings, which must agree.
func (s scenario) play(t *testing.T, u unit) map[string]outcome {
	t.Helper()
	outcomes := map[string]outcome{}
	for _, r := range readings() {
		changes := u.run(t, r, s.wake, s.minutes, s.world)
		counts := map[string]int{}
		for role, e := range endings(changes) {
			if want, ok := s.ends[role]; ok && e.state != want {
				t.Errorf("%+v: %s ends in %s, want %s", r, role, e.state, want)
			}
			if e.count == 0 {
				continue
			}
			if counts[role] = e.count; slices.Contains(s.often, role) {
				counts[role] = s.alarms[role]
			}
			i := slices.IndexFunc(changes[role], func(c alarm.Transition) bool { return c.To == alarm.Alarm })
			after := int(changes[role][i].At.Sub(midnight)/time.Minute) - begins
			o, seen := outcomes[role]
			if !seen {
				o.first, o.last = after, after
			}
			outcomes[role] = outcome{min(o.first, after), max(o.last, after), max(o.count, e.count)}
		}
		if d := gocmp.Diff(s.alarms, counts, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%+v: how often each alarm goes to ALARM (-want +got):\n%s", r, d)
		}
	}
	return outcomes
}

// row is the scenario's line in the table of docs/alarms.md. Alarms that come at
// the same time share a cell.
func (s scenario) row(outcomes map[string]outcome) string {
	at := map[outcome][]string{}
	for _, role := range slices.Sorted(maps.Keys(outcomes)) {
		at[outcomes[role]] = append(at[outcomes[role]], role)
	}
	var cells []string
	for _, o := range slices.SortedFunc(maps.Keys(at), outcome.compare) {
		cell := fmt.Sprintf("%s in %d min", strings.Join(at[o], ", "), o.last)
		if o.first < o.last {
			cell = fmt.Sprintf("%s in %d to %d min", strings.Join(at[o], ", "), o.first, o.last)
		}
		if o.count > 1 {
			cell += fmt.Sprintf(", %d times", o.count)
		}
		if slices.Contains(s.often, at[o][0]) {
			cell += " or fewer"
		}
		cells = append(cells, cell)
	}
	if len(cells) == 0 {
		cells = []string{"none"}
	}
	return fmt.Sprintf("| %s | %s | %s |\n", s.name, strings.Join(cells, "; "), s.note)
}

func (o outcome) compare(other outcome) int {
	return cmp.Or(cmp.Compare(o.first, other.first), cmp.Compare(o.last, other.last), cmp.Compare(o.count, other.count))
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	stories := scenarios()
	rows := make([]string, len(stories))
	t.Cleanup(func() {
		if !t.Failed() { // the table would have holes
			golden(t, "scenarios", "| what happens | goes to ALARM | besides |\n|---|---|---|\n"+strings.Join(rows, ""))
		}
	})
	for i, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rows[i] = s.row(s.play(t, s.unit()))
		})
	}
}

// The guide names the scenarios in which it matters how a missing operand counts.
func TestWhereReadingsDiffer(t *testing.T) {
	t.Parallel()
	stories := scenarios()
	rows := make([]string, len(stories))
	t.Cleanup(func() {
		if !t.Failed() {
			golden(t, "readings", "| what happens | if a missing operand counts as 0 |\n|---|---|\n"+strings.Join(rows, ""))
		}
	})
	for i, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			u := s.unit()
			zero := endings(u.run(t, reading{options: alarm.Options{MissingAsZero: true}}, s.wake, s.minutes, s.world))
			times := []string{"never", "once", "twice"}
			var cells []string
			for role, want := range endings(u.run(t, reading{}, s.wake, s.minutes, s.world)) {
				if got := zero[role]; got.count != want.count {
					cells = append(cells, fmt.Sprintf("%s goes to ALARM %s, not %s", role, times[got.count], times[want.count]))
				} else if got.state != want.state {
					cells = append(cells, fmt.Sprintf("%s ends in %s, not in %s", role, got.state, want.state))
				}
			}
			late := endings(u.run(t, reading{alarm.Options{MissingAsZero: true}, 1}, s.wake, s.minutes, s.world))
			for _, role := range []string{"NotEmpty", "ConsumerStalled"} {
				if late[role].count > 0 {
					t.Errorf("%s goes to ALARM though the newest minute is always 0", role)
				}
			}
			if slices.Sort(cells); len(cells) > 0 {
				rows[i] = fmt.Sprintf("| %s | %s |\n", s.name, strings.Join(cells, "; "))
			}
		})
	}
}

// Trouble is to show in the dead-letter queue before the backlog tells.
func TestDeadLettersAreToldBeforeTheBacklog(t *testing.T) {
	t.Parallel()
	u := watchedBy(charge(), nil, all...)
	for _, role := range []string{"NotEmpty", "Arrivals", "Flood"} {
		for _, other := range []string{"QueueAge", "QueueExpiry", "ConsumerStalled", "DeadLetterAge"} {
			a, b := u.alarms[role].Definition, u.alarms[other].Definition
			if window(a) >= window(b) {
				t.Errorf("%s looks back %v and %s %v: the former must be quicker", role, window(a), other, window(b))
			}
		}
	}
}

func window(d alarm.Definition) time.Duration {
	for _, q := range d.Queries {
		if q.Expression == "" {
			return q.Period * time.Duration(d.EvaluationPeriods)
		}
	}
	return 0
}
