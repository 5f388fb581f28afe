package main

import (
	"errors"
	"fmt"
)

// limit is the maximum ratio of the processor time of the second program to
// that of the first. The tolerance allows for the noise of a short measurement.
type limit struct{ ratio, tolerance float64 }

// exceeded returns the comparisons that are over the limit.
func (l limit) exceeded(all []*comparison) []*comparison {
	var over []*comparison
	for _, c := range all {
		if c.ratio(1, processor).median > l.ratio+l.tolerance {
			over = append(over, c)
		}
	}
	return over
}

// report returns an error that names them; nil if there are none.
func (l limit) report(programs []program, over []*comparison) error {
	errs := make([]error, 0, len(over))
	for _, c := range over {
		errs = append(errs, fmt.Errorf(
			"%s: %s takes %.2f times the processor time of %s, the limit is %.2f and the tolerance %.2f: "+
				"look for the cause with \"go test -run '^$' -bench Batch -cpuprofile cpu.out ./internal/bench\"",
			c.name, programs[1].name, c.ratio(1, processor).median, programs[0].name, l.ratio, l.tolerance))
	}
	return errors.Join(errs...)
}
