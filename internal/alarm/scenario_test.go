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
)

// full are the parameters that bring all alarms about.
var full = map[string]string{"AlarmSet": "full", "ExpectTraffic": "true"}

// begins is the minute in which the trouble of a scenario begins.
const begins = 60

// scenario is a story that is played to the alarms.
type scenario struct {
	name string
	// wake is how late the dead-letter queue's metrics come when it has slept.
	wake    time.Duration
	minutes int
	world   func(m int) minute
	// parameters are those of the template besides the ones in full.
	parameters map[string]string
	// alarms are how often each role goes to ALARM; the others never do.
	alarms map[string]int
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

// unit is the one given, or the same with the parameters of the scenario.
func (s scenario) unit(t *testing.T, usual unit) unit {
	t.Helper()
	if s.parameters == nil {
		return usual
	}
	parameters := maps.Clone(full)
	maps.Copy(parameters, s.parameters)
	return readUnits(t, parameters)[0]
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
			counts[role] = e.count
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
	usual, all := readUnits(t, full)[0], scenarios()
	rows := make([]string, len(all))
	t.Cleanup(func() {
		if !t.Failed() { // the table would have holes
			golden(t, "scenarios", "| what happens | goes to ALARM | besides |\n|---|---|---|\n"+strings.Join(rows, ""))
		}
	})
	for i, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rows[i] = s.row(s.play(t, s.unit(t, usual)))
		})
	}
}

// The guide names the scenarios in which it matters how a missing operand counts.
func TestWhereReadingsDiffer(t *testing.T) {
	t.Parallel()
	usual, all := readUnits(t, full)[0], scenarios()
	rows := make([]string, len(all))
	t.Cleanup(func() {
		if !t.Failed() {
			golden(t, "readings", "| what happens | if a missing operand counts as 0 |\n|---|---|\n"+strings.Join(rows, ""))
		}
	})
	for i, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			u := s.unit(t, usual)
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
			for _, role := range []string{"NotEmpty", "Arrivals", "Flood", "ConsumerStalled"} {
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
	u := readUnits(t, full)[0]
	for _, role := range []string{"NotEmpty", "Arrivals", "Flood"} {
		for _, other := range []string{"QueueAge", "QueueExpiry", "ConsumerStalled", "DeadLetterAge"} {
			a, b := u.alarms[role], u.alarms[other]
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
