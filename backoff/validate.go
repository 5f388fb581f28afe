package backoff

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// FieldError says which field of a profile cannot be used.
type FieldError struct {
	// Field is the name of the field, Value what it holds.
	Field string
	Value any
	// Problem says what is wrong with it, Remedy what to do.
	Problem, Remedy string
}

// Error names the field, its value, what is wrong and the remedy.
func (e *FieldError) Error() string {
	return fmt.Sprintf("backoff: %s is %v: %s; %s", e.Field, e.Value, e.Problem, e.Remedy)
}

// Validate gives a [*FieldError] for every field that cannot be used, joined, or
// nil. Zero fields are judged by the defaults that they stand for.
func (e Exponential) Validate() error {
	e = e.withDefaults()
	var errs []error
	refuse := func(bad bool, field string, value any, problem, remedy string) {
		if bad {
			errs = append(errs, &FieldError{field, value, problem, remedy})
		}
	}
	refuse(e.Base < time.Second, "Base", e.Base,
		"SQS counts whole seconds, and a retry at once is a second attack", "set at least 1s")
	refuse(e.Cap < e.Base, "Cap", e.Cap,
		fmt.Sprintf("it is below Base, %v", e.Base), "raise Cap or lower Base")
	// Negated, so that a NaN is refused.
	refuse(!(e.Factor >= 1) || math.IsInf(e.Factor, 1), "Factor", e.Factor,
		"delays must not shrink, and must grow by a finite factor", "set 1 or more, 2 is usual")
	refuse(!(e.Jitter > 0 && e.Jitter <= 1), "Jitter", e.Jitter,
		"it is a share above 0 and at most 1", "set 0.1 to 0.2, or up to 1 for an even spread")
	refuse(e.MaxAttempts < 1, "MaxAttempts", e.MaxAttempts,
		"a job runs at least once", "set 1 or more")
	return errors.Join(errs...)
}
