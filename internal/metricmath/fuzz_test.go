package metricmath_test

import (
	"math"
	"testing"
)

// An expression is refused, or computed to series of finite numbers, whatever stands in it.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"v + FILL(n, 0)", "DIFF(v)", "-(v*2)^.5/1e3", "FILL(v", "((((", "v v", "RATE(v)", "1e999", "0^-1*v", "MAX([v, n])",
		"IF(v > 2 AND n || 1, AVG([v,n]), .5)", "PERIOD(minutes)", "FILL(n, LINEAR)", "FILL(n, REPEAT)", "SUM([])", "e", "é",
		"v - none", "IF(none, none)", "SEARCH('a', 'Sum')", "[v, n]",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, zero bool) {
		value, err := compute(text, zero, nil)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a word", text)
			}
			return
		}
		for _, s := range append(value.List, value.Series) {
			if s == nil { // a number, which need not be finite
				continue
			}
			last := int64(math.MinInt64)
			for _, p := range s.Points {
				if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) || p.At <= last || p.At < s.Grid.Start || p.At >= s.Grid.End() {
					t.Errorf("%q has %v at %d in the grid %+v", text, p.Value, p.At, s.Grid)
				}
				last = p.At
			}
		}
	})
}
