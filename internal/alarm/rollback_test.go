package alarm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarmset"
)

// shift is a way in which a new version takes over. CodeDeploy watches the
// alarms until the last of the traffic has been shifted.
type shift struct {
	minutes int
	// share of the traffic that the new version has after some minutes.
	share func(minutes float64) float64
	// values are the parameters of the template that are not their defaults.
	values map[string]float64
	// watched are the deployment types that it stands for, by the minutes in which
	// an alarm still rolls back.
	watched []deploymentType
}

type deploymentType struct {
	name    string
	minutes int
}

func shifts() []shift {
	tenth := func(float64) float64 { return 0.1 }
	linear := func(every float64) func(float64) float64 {
		return func(minutes float64) float64 { return 0.1 * (1 + float64(int(minutes/every))) }
	}
	return []shift{
		{30, tenth, nil, []deploymentType{
			{"`Canary10Percent5Minutes`", 5}, {"`Canary10Percent10Minutes`", 10}, {"`Canary10Percent15Minutes`", 15},
			{"`Canary10Percent30Minutes`", 30},
		}},
		{10, tenth, map[string]float64{"FloodThreshold": 3}, []deploymentType{
			{"`Canary10Percent5Minutes`, `FloodThreshold=3`", 5}, {"`Canary10Percent10Minutes`, `FloodThreshold=3`", 10},
		}},
		{9, linear(1), nil, []deploymentType{{"`Linear10PercentEvery1Minute`", 9}}},
		{18, linear(2), nil, []deploymentType{{"`Linear10PercentEvery2Minutes`", 18}}},
	}
}

// fault is a new version that fails in every batch.
type fault struct {
	batches, batch int // a minute, and their jobs
	crashes        bool
}

// alarmAfter plays a deployment of a faulty version and gives the minutes from its
// start to the first alarm that rolls it back. Chance decides where in a minute
// it starts, when the batches come, and which of them the new version gets.
func (f fault) alarmAfter(t *testing.T, u unit, s shift, r reading, chance *rand.Rand) float64 {
	t.Helper()
	const lead = 5 // minutes of metrics before the deployment
	e := alarm.NewEvaluator(midnight, &r.options)
	for _, role := range u.roles {
		watch(t, e, u.alarms[role].Definition)
	}
	start := lead + chance.Float64()
	letters, errors := u.alarms["NewVersionFlood"].Queries[0].Metric, u.alarms["NewVersionErrors"].Queries[0].Metric
	pending := slices.Repeat([][]alarm.Datapoint{nil}, r.late)
	for m := range lead + s.minutes + 1 {
		failed := 0
		for range f.batches {
			if after := float64(m) + chance.Float64() - start; after >= 0 && chance.Float64() < s.share(after) {
				failed++
			}
		}
		at := midnight.Add(time.Duration(m) * time.Minute)
		var points []alarm.Datapoint
		if failed > 0 { // the new version has run
			points = append(points, alarm.Value(errors, at, float64(failed)))
			if !f.crashes {
				points[0] = alarm.Value(errors, at, 0)
				points = append(points, alarm.Value(letters, at, float64(failed*f.batch)))
			}
		}
		pending = append(pending, points)
		e.Add(pending[0]...)
		pending = pending[1:]
		for _, c := range e.Advance(at.Add(time.Minute)) {
			if c.To == alarm.Alarm {
				return c.At.Sub(midnight).Minutes() - start
			}
		}
	}
	return float64(s.minutes) // never in time
}

// inTime gives the percentage of deployments that are rolled back, by type.
func (s shift) inTime(t *testing.T, u unit, f fault, r reading, seed uint64) []int {
	t.Helper()
	const deployments = 200
	chance := rand.New(rand.NewPCG(seed, uint64(r.late)))
	shares := make([]int, len(s.watched))
	for range deployments {
		after := f.alarmAfter(t, u, s, r, chance)
		for k, d := range s.watched {
			if after < float64(d.minutes) {
				shares[k]++
			}
		}
	}
	for k := range shares {
		shares[k] = 100 * shares[k] / deployments
	}
	return shares
}

// An alarm rolls back what is still under way when it comes. With a tenth of
// the traffic that is no matter of course.
func TestWhatIsRolledBackInTime(t *testing.T) {
	t.Parallel()
	table := "| `DeploymentType` | dead-lettered, 60 batches of 1 job a minute | 6 batches of 10 | 60 of 10 | " +
		"crashed, 60 batches a minute | 6 | 1 |\n|---|---|---|---|---|---|---|\n"
	faults := []fault{{batches: 60, batch: 1}, {batches: 6, batch: 10}, {batches: 60, batch: 10},
		{batches: 60, crashes: true}, {batches: 6, crashes: true}, {batches: 1, crashes: true}}
	for _, s := range shifts() {
		u, cells := watchedBy(charge(), s.values, alarmset.Rollback), make([]string, len(s.watched))
		for i, f := range faults {
			slow := s.inTime(t, u, f, reading{alarm.Options{RangeBeyond: 6}, 2}, uint64(i))
			quick := s.inTime(t, u, f, reading{}, uint64(i))
			for k := range s.watched {
				cells[k] += fmt.Sprintf(" %s |", span(slow[k], quick[k]))
			}
		}
		for k, d := range s.watched {
			table += fmt.Sprintf("| %s |%s\n", d.name, cells[k])
		}
	}
	golden(t, "rollbacks", table)
}

func span(low, high int) string {
	if low >= high { // chance can turn them round
		return fmt.Sprintf("%d %%", low)
	}
	return fmt.Sprintf("%d to %d %%", low, high)
}
