package main

import (
	"slices"
	"time"
)

// spread is a median with the quartiles around it.
type spread struct{ low, median, high float64 }

func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	return spread{low: quantile(sorted, 0.25), median: quantile(sorted, 0.5), high: quantile(sorted, 0.75)}
}

// quantile interpolates between the two nearest values; it returns 0 for no
// values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}

// kind selects the part of a cost that is compared.
type kind func(cost) time.Duration

func processor(c cost) time.Duration { return c.perInvocation(c.cpu) }
func wall(c cost) time.Duration      { return c.perInvocation(c.wall) }

// ratio compares the i-th program with the first, window by window.
func (c *comparison) ratio(i int, of kind) spread { return c.ratioTo(i, 0, of) }

// ratioTo compares the i-th program with another one.
func (c *comparison) ratioTo(i, base int, of kind) spread {
	values := make([]float64, 0, len(c.costs))
	for _, costs := range c.costs {
		values = append(values, float64(of(costs[i]))/float64(of(costs[base])))
	}
	return spreadOf(values)
}

// typical returns the median cost of an invocation of the i-th program.
func (c *comparison) typical(i int, of kind) time.Duration {
	values := make([]float64, 0, len(c.costs))
	for _, costs := range c.costs {
		values = append(values, float64(of(costs[i])))
	}
	return time.Duration(spreadOf(values).median)
}
