package backoff

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// mostAttempts is the largest maxReceiveCount that SQS accepts
// (SetQueueAttributes, RedrivePolicy), so no job is ever run more often.
const mostAttempts = 1_000

// FieldError names a field of a profile that is invalid.
type FieldError struct {
	// Field is the name of the field, Value its value.
	Field string
	Value any
	// Problem says what is wrong with the value, Remedy what to do.
	Problem, Remedy string
}

// Error names the field, its value, what is wrong and the remedy.
func (e *FieldError) Error() string {
	value := fmt.Sprint(e.Value)
	if text, ok := e.Value.(string); ok {
		value = fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("backoff: %s is %s: %s; %s", e.Field, value, e.Problem, e.Remedy)
}

// Validate returns a [*FieldError] for every invalid field, joined, or nil. A
// zero field is checked by the default that it means.
func (e Exponential) Validate() error {
	e = e.withDefaults()
	var r refusals
	r.short("Base", e.Base)
	r.when(e.Cap < e.Base, "Cap", e.Cap, fmt.Sprintf("it is below Base, %v", e.Base), "raise Cap or lower Base")
	r.long("Cap", e.Cap, e.jitter())
	// Negated, so that NaN is refused.
	r.when(!(e.Factor >= 1) || math.IsInf(e.Factor, 1), "Factor", e.Factor,
		"delays must not shrink, and must grow by a finite factor", "set 1 or more, 2 is usual")
	r.jitter(e.jitter())
	r.attempts(e.MaxAttempts)
	return errors.Join(r...)
}

// Validate returns a [*FieldError] for every invalid field, joined, or nil. A
// step is named by its index, as Steps[0].
func (s Stepped) Validate() error {
	var (
		r      refusals
		before time.Duration
	)
	for i, step := range s.steps() {
		field := fmt.Sprintf("Steps[%d]", i)
		r.short(field, step)
		r.when(step < before, field, step,
			fmt.Sprintf("it is shorter than the step before, %v", before), "let steps grow or stay")
		r.long(field, step, s.jitter())
		before = step
	}
	r.jitter(s.jitter())
	r.attempts(s.Attempts())
	return errors.Join(r...)
}

// Validate returns a [*FieldError] for every invalid field, joined, or nil. An
// Interval of 0 is invalid.
func (c Constant) Validate() error {
	var r refusals
	r.short("Interval", c.Interval)
	r.long("Interval", c.Interval, c.jitter())
	r.jitter(c.jitter())
	r.attempts(c.Attempts())
	return errors.Join(r...)
}

type refusals []error

func (r *refusals) when(bad bool, field string, value any, problem, remedy string) {
	if bad {
		*r = append(*r, &FieldError{field, value, problem, remedy})
	}
}

func (r *refusals) short(field string, d time.Duration) {
	r.when(d < shortest, field, d,
		"SQS counts whole seconds, and a retry at once is a second attack", "set at least 1s")
}

// long refuses delays that Clamp would shorten: all of them would be shortened
// to the same delay, so that jobs would be retried together.
func (r *refusals) long(field string, d time.Duration, j jitter) {
	longest := j.longest(d)
	r.when(longest > MaxVisibility, field, d,
		fmt.Sprintf("with jitter it is up to %v, and SQS hides a message for %v at most", longest, MaxVisibility),
		"set less, or less jitter")
}

func (r *refusals) jitter(j jitter) {
	switch j.kind {
	case Additive:
		// Negated, so that NaN is refused.
		r.when(!(j.share > 0 && j.share <= 1), "Jitter", j.share,
			"it is a share above 0 and at most 1", "set 0.1 to 0.2, or up to 1 for an even spread")
	case Full, Equal:
		r.when(j.share != 0, "Jitter", j.share,
			fmt.Sprintf("jitter of the kind %v has a range of its own", j.kind), "leave Jitter 0")
	default:
		r.when(true, "JitterKind", j.kind, "there is no such kind", "set Additive, Full or Equal")
	}
}

func (r *refusals) attempts(n int) {
	r.when(n < 1, "MaxAttempts", n, "a job runs at least once", "set 1 or more")
	r.when(n > mostAttempts, "MaxAttempts", n,
		"a queue hands out a message 1,000 times at most before it moves it", "set 1000 or less")
}
