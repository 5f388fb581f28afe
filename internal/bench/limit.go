package main

import (
	"errors"
	"fmt"
)

// tolerance allows for the noise of a short measurement: it is added to the limits of the
// shapes.
type tolerance float64

// exceeds reports whether a program needs more processor time than the limit of the shape
// allows. The first program has none.
func (t tolerance) exceeds(c *comparison, program int) bool {
	return program > 0 && program <= len(c.limits) && len(c.costs) > 0 &&
		c.ratio(program, processor).median > c.limits[program-1]+float64(t)
}

// exceeded returns the comparisons with a program that is over its limit.
func (t tolerance) exceeded(all []*comparison) []*comparison {
	var over []*comparison
	for _, c := range all {
		for i := range c.costs[0] {
			if t.exceeds(c, i) {
				over = append(over, c)
				break
			}
		}
	}
	return over
}

// report returns an error that names them; nil if there are none.
func (t tolerance) report(programs []program, over []*comparison) error {
	errs := make([]error, 0, len(over))
	for _, c := range over {
		for i, p := range programs {
			if !t.exceeds(c, i) {
				continue
			}
			errs = append(errs, fmt.Errorf(
				"%s: %s takes %.2f times the processor time of %s, the limit is %.2f and the tolerance %.2f: "+
					"look for the cause with \"go test -run '^$' -bench Batch -cpuprofile cpu.out ./internal/bench\"",
				c.name, p.name, c.ratio(i, processor).median, programs[0].name, c.limits[i-1], float64(t)))
		}
	}
	return errors.Join(errs...)
}
