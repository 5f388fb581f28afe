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
	// alarms are how often each role goes to ALARM; the others never do.
	alarms map[string]int
	// ends are the states in the end, of roles where they matter.
	ends map[string]alarm.State
	// prompt leaves out the readings in which metrics come late.
	prompt bool
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

// play runs a scenario in its readings, which must agree.
func (s scenario) play(t *testing.T, u unit) map[string]outcome {
	t.Helper()
	outcomes := map[string]outcome{}
	for _, r := range readings() {
		if s.prompt && r.late > 0 {
			continue
		}
		changes := u.run(t, r, s.wake, s.minutes, s.world)
		counts := map[string]int{}
		for role, all := range changes {
			for _, c := range all {
				if c.To != alarm.Alarm {
					continue
				}
				after := int(c.At.Sub(midnight)/time.Minute) - begins
				o, seen := outcomes[role]
				if counts[role]++; counts[role] == 1 && !seen {
					o = outcome{first: after, last: after}
				} else if counts[role] == 1 {
					o.first, o.last = min(o.first, after), max(o.last, after)
				}
				o.count = max(o.count, counts[role])
				outcomes[role] = o
			}
			if want, ok := s.ends[role]; ok && all[len(all)-1].To != want {
				t.Errorf("%+v: %s ends in %s, want %s", r, role, all[len(all)-1].To, want)
			}
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
	u := readUnits(t, full)[0]
	all := scenarios()
	rows := make([]string, len(all))
	t.Cleanup(func() {
		if !t.Failed() { // the table would have holes
			golden(t, "scenarios", "| what happens | goes to ALARM | besides |\n|---|---|---|\n"+strings.Join(rows, ""))
		}
	})
	for i, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rows[i] = s.row(s.play(t, u))
		})
	}
}

// A deployment is watched for the time of its canary: an alarm that comes later
// rolls nothing back.
func TestRollbackAlarmsComeWithinTheCanary(t *testing.T) {
	t.Parallel()
	u := readUnits(t, full)[0]
	const canary = 5 // minutes, of the default DeploymentType
	for _, role := range []string{"Flood", "FunctionErrors"} {
		var s scenario
		for _, c := range scenarios() {
			if c.name == badDeployment {
				s = c
			}
		}
		if o := s.play(t, u)[role]; o.last > canary {
			t.Errorf("%s comes after %d minutes, when %d have shifted the traffic", role, o.last, canary)
		}
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
