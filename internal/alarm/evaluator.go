package alarm

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/metricmath"
)

// rangeBeyond is how many datapoints an evaluation looks at beyond the number
// of evaluation periods. AWS does not publish it; in the user guide's examples
// it is 5 for 3.
const rangeBeyond = 2

// Options choose between readings of what AWS leaves open. The zero value has
// the likelier of each.
type Options struct {
	// RangeBeyond is how many datapoints, from 1, an evaluation looks at beyond
	// EvaluationPeriods when some are missing; 0 means 2.
	RangeBeyond int
	// MissingAsZero counts a missing value as 0 where the other series of an
	// operator has one, as the user guide says. By default there is no result.
	MissingAsZero bool
}

// Evaluator keeps the states of alarms as time goes on. It is safe for
// concurrent use.
type Evaluator struct {
	mu      sync.Mutex
	options Options
	minute  int64 // the last one that was evaluated
	data    store
	alarms  []*watched
}

// watched is an alarm under evaluation.
type watched struct {
	definition  Definition
	expressions map[string]metricmath.Expression
	returned    string // the id of the query that is judged
	beyond      int    // RangeBeyond
	status      Status
}

// Status is the state of an alarm and what led to it.
type Status struct {
	Name  string
	State State
	// Since is when the alarm came into the state.
	Since time.Time
	// Reason says why, in a sentence; empty before the first evaluation.
	Reason string
	// Value is the newest value of what is compared with the threshold, from the
	// last evaluation; nil if it has none.
	Value *float64
}

// Transition is a change of an alarm's state.
type Transition struct {
	Name     string
	From, To State
	At       time.Time
	Reason   string
	// Actions are those that the alarm has for its new state. CloudWatch runs
	// them with the change and at no other time.
	Actions []string
}

// NewEvaluator gives an evaluator without alarms whose time is start. Without
// options their zero value counts.
func NewEvaluator(start time.Time, o *Options) *Evaluator {
	e := &Evaluator{minute: minuteOf(start), data: store{}}
	if o != nil {
		e.options = *o
	}
	if e.options.RangeBeyond == 0 {
		e.options.RangeBeyond = rangeBeyond
	}
	return e
}

// Watch adds an alarm in the state InsufficientData. The error says what is
// wrong with the definition, or is an [*UnsupportedError] for what this package
// does not implement.
func (e *Evaluator) Watch(d Definition) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	w, err := newWatched(d, e.options)
	if err != nil {
		return fmt.Errorf("alarm %s: %w", d.Name, err)
	}
	if slices.ContainsFunc(e.alarms, func(o *watched) bool { return o.definition.Name == d.Name }) {
		return fmt.Errorf("alarm %s: there is one of that name: names must differ", d.Name)
	}
	w.status = Status{Name: d.Name, State: InsufficientData, Since: time.Unix(e.minute*60, 0).UTC()}
	e.alarms = append(e.alarms, w)
	return nil
}

func newWatched(d Definition, o Options) (*watched, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	w := &watched{definition: d, expressions: map[string]metricmath.Expression{}, beyond: o.RangeBeyond}
	for _, q := range d.Queries {
		if q.ReturnData {
			w.returned = q.ID
		}
		if q.Expression == "" {
			continue
		}
		parsed, err := metricmath.Parse(q.Expression)
		if err != nil {
			return nil, fmt.Errorf("expression %q: %w", q.Expression, err)
		}
		w.expressions[q.ID] = parsed
	}
	// An evaluation over no data finds what is wrong with the expressions.
	_, err := w.compute(store{}, 0, o)
	return w, err
}

// compute returns the values that are compared with the threshold, over the
// periods that end with the minute before end.
func (w *watched) compute(data store, end int64, o Options) (*metricmath.Series, error) {
	run := &metricmath.Evaluation{
		Expressions: w.expressions, MissingAsZero: o.MissingAsZero,
		Metric: func(id string) (*metricmath.Series, bool) {
			q, ok := w.definition.query(id)
			if !ok {
				return nil, false
			}
			return data.read(q, end, w.definition.EvaluationPeriods+w.beyond), true
		},
	}
	for _, q := range w.definition.Queries { // all, so that each is checked
		if _, err := run.Query(q.ID); err != nil {
			return nil, err
		}
	}
	v, err := run.Query(w.returned)
	if err == nil && v.Series == nil {
		err = fmt.Errorf("the query %s gives a single number or several series: one series is needed", w.returned)
	}
	return v.Series, err
}

// Add takes in datapoints. Those of a minute that has some already are counted
// together with these; late ones count for as long as an evaluation looks back.
func (e *Evaluator) Add(points ...Datapoint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range points {
		e.data.add(p)
	}
}

// Advance evaluates the alarms at the end of each minute up to now and gives
// the changes of state, the oldest first. An evaluation sees the datapoints
// that were added before. Time does not go back: an earlier now does nothing.
func (e *Evaluator) Advance(now time.Time) []Transition {
	e.mu.Lock()
	defer e.mu.Unlock()
	var changes []Transition
	for e.minute < minuteOf(now) {
		if e.minute++; e.minute%60 == 0 {
			e.data.forget(e.minute - e.reach())
		}
		for _, w := range e.alarms {
			if t, changed := e.evaluate(w); changed {
				changes = append(changes, t)
			}
		}
	}
	return changes
}

func (e *Evaluator) evaluate(w *watched) (Transition, bool) {
	samples, err := w.compute(e.data, e.minute, e.options)
	if err != nil {
		// Watch has computed the same queries.
		panic(fmt.Sprintf("alarm %s: %v", w.definition.Name, err))
	}
	w.status.Value = nil
	if last, ok := samples.Last(); ok {
		w.status.Value = &last
	}
	v := w.definition.judge(samples)
	if v.state == "" || v.state == w.status.State {
		return Transition{}, false
	}
	t := Transition{
		Name: w.definition.Name, From: w.status.State, To: v.state, At: time.Unix(e.minute*60, 0).UTC(),
		Reason: w.reason(v), Actions: slices.Clone(w.definition.actions(v.state)),
	}
	w.status.State, w.status.Since, w.status.Reason = t.To, t.At, t.Reason
	return t, true
}

// reason says what a verdict rests on.
func (w *watched) reason(v verdict) string {
	d := &w.definition
	if v.judged == 0 {
		return fmt.Sprintf("no datapoint in the last %d periods of %v", d.EvaluationPeriods+w.beyond, d.period())
	}
	words := fmt.Sprintf("%d of %d datapoints %s %v", v.breaching, v.judged,
		strings.TrimSuffix(d.ComparisonOperator, "Threshold"), d.Threshold)
	if v.filled > 0 {
		words += fmt.Sprintf(", %d missing (%s)", v.filled, d.treatment())
	}
	return words
}

// reach is how many minutes of datapoints are kept: what the alarms look back
// to, and at least a day, so that alarms can be added later.
func (e *Evaluator) reach() int64 {
	reach := int64(maxWindow / time.Minute)
	for _, w := range e.alarms {
		periods := int64(w.definition.EvaluationPeriods + w.beyond)
		reach = max(reach, periods*int64(w.definition.period()/time.Minute))
	}
	return reach
}

// States gives the alarms' states in the order in which they were added.
func (e *Evaluator) States() []Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []Status
	for _, w := range e.alarms {
		all = append(all, w.status)
	}
	return all
}
