package metricmath_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/metricmath"
)

// start is no multiple of a period: the window of an alarm slides by the minute.
const start = 30

const gap = -999

// series has values from its first period on. There is no value for a gap.
func series(period, count int64, values ...float64) *metricmath.Series {
	s := &metricmath.Series{Grid: metricmath.Grid{Start: start, Period: period, Count: count}}
	for i, v := range values {
		if v != gap {
			s.Add(start+int64(i)*period, v)
		}
	}
	return s
}

// metrics are the series that expressions may name.
func metrics() map[string]*metricmath.Series {
	return map[string]*metricmath.Series{
		"v":       series(60, 6, 1, 2, gap, gap, 8),
		"n":       series(60, 6, gap, 10, 20),
		"none":    series(60, 6),
		"minutes": series(300, 2, 5, 6),
		"ages":    series(1, 1_000_000_000, 1),
	}
}

// compute evaluates an expression, and others by their ids, over the metrics.
func compute(text string, zero bool, others map[string]string) (metricmath.Value, error) {
	e := metricmath.Evaluation{
		MissingAsZero: zero, Expressions: map[string]metricmath.Expression{},
		Metric: func(id string) (*metricmath.Series, bool) { s, ok := metrics()[id]; return s, ok },
	}
	all := map[string]string{"e": text}
	maps.Copy(all, others)
	for id, text := range all {
		parsed, err := metricmath.Parse(text)
		if err != nil {
			return metricmath.Value{}, err
		}
		e.Expressions[id] = parsed
	}
	return e.Query("e")
}

// drawn writes a value as its number, or as period:value, where periods are
// counted from 0.
func drawn(v metricmath.Value) string {
	if v.Series == nil {
		return fmt.Sprint(v.Number)
	}
	var words []string
	for _, p := range v.Series.Points {
		words = append(words, fmt.Sprintf("%d:%g", (p.At-start)/v.Series.Grid.Period, p.Value))
	}
	return strings.Join(words, " ")
}

func TestEvaluation(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"1 + 2 * 3":             "7",
		"2 ^ 3 ^ 2":             "64",
		"-2 ^ 2":                "-4",
		"v":                     "0:1 1:2 4:8",
		"v + n":                 "1:12",
		"v / 0":                 "",
		"0 / 0 + v":             "",
		"FILL(v, LINEAR)":       "0:1 1:2 2:4 3:6 4:8",
		"FILL(n, LINEAR)":       "1:10 2:20",
		"FILL(n, REPEAT)":       "1:10 2:20 3:20 4:20 5:20",
		"FILL(none, 3)":         "0:3 1:3 2:3 3:3 4:3 5:3",
		"FILL(none, REPEAT)":    "",
		"FILL(v, 1 / 0)":        "0:1 1:2 4:8",
		"FILL(minutes, 0)":      "0:5 1:6",
		"DIFF(v)":               "1:1 4:6",
		"RATE(v) * 60":          "1:1 4:2",
		"RATE(minutes)":         "1:0.0033333333333333335",
		"PERIOD(v)":             "60",
		"PERIOD(minutes)":       "300",
		"MAX([v, n])":           "0:1 1:10 2:20 4:8",
		"AVG([v, n, none])":     "0:0.3333333333333333 1:4 2:6.666666666666667 4:2.6666666666666665",
		"IF(v > 1, n)":          "1:10 4:0", // the first value counts as 0 where it is missing
		"IF(v > 1, 5, n)":       "1:5 4:5",
		"IF(v, 1 / 0)":          "0:0 1:0 4:0",
		"IF(1, 5, none)":        "0:5 1:5 2:5 3:5 4:5 5:5",
		"IF(0, 5, v)":           "0:1 1:2 4:8",
		"IF(0, v)":              "",
		"IF(1 / 0, v, n)":       "",
		"twice + v":             "0:3 1:6 4:24",
		"five * v":              "0:5 1:10 4:40",
		"ABS(-v)":               "0:1 1:2 4:8",
		"SUM([ages, ages]) * 3": "0:6",
	} {
		got, err := compute(expression, false, map[string]string{"twice": "v * 2", "five": "5"})
		if err != nil || drawn(got) != want {
			t.Errorf("%s: got %s (%v), want %s", expression, drawn(got), err, want)
		}
	}
}

func TestMissingAsZero(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"v + n":    "0:1 1:12 2:20 4:8",
		"v + none": "0:1 1:2 4:8",
		"v + 1":    "0:2 1:3 4:9", // a number is never missing, so nothing is added
		"n < v":    "0:1 1:0 2:0 4:1",
		"v / none": "",
	} {
		got, err := compute(expression, true, nil)
		if err != nil || drawn(got) != want {
			t.Errorf("%s: got %s (%v), want %s", expression, drawn(got), err, want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	const periods = "periods 60 and 300"
	for expression, want := range map[string]string{
		"v + minutes":                    periods,
		"SUM([v, minutes])":              periods,
		"AVG([n, v, minutes])":           periods,
		"IF(v, minutes)":                 periods,
		"IF(1, v, minutes)":              periods,
		"FILL(ages, 0)":                  "FILL: it would give more than 100800 datapoints",
		"FILL(ages, REPEAT)":             "more than 100800",
		"FILL(ages, LINEAR)":             "more than 100800",
		"IF(1, 5, ages)":                 "more than 100800",
		"DIFF(FILL(3, 0))":               "DIFF: FILL: its first argument needs a series",
		"circle":                         "circle depends on itself",
		"v + unknown":                    "unknown, which is the Id of no query",
		"[v, n] * 2":                     "put it into MAX",
		"v +":                            "ends too early",
		"1e999":                          "too large",
		strings.Repeat("-", 99) + "v":    "nested more than 64 deep",
		strings.Repeat("v+", 1024) + "v": "longer than 2048 characters",
	} {
		_, err := compute(expression, false, map[string]string{"circle": "circle + 1"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want an error with %q", expression, err, want)
		}
	}
	for expression, want := range map[string]string{
		"SEARCH(v)":   "the function SEARCH",
		"FILL(v, n)":  "filling with a series",
		"MAX(v)":      "a single series, which AWS advises against in alarms,",
		"[[v], n]":    "a list of series within a list",
		"IF([v], 1)":  "a list of series",
		"DIFF([v])":   "a list of series within it",
		"STDDEV([v])": "the function STDDEV",
	} {
		_, err := compute(expression, false, nil)
		if u, ok := errors.AsType[*metricmath.UnsupportedError](err); !ok || u.What != want {
			t.Errorf("%s: got %v, want %q not to be supported", expression, err, want)
		}
	}
}

func TestAQueryIsComputedOnce(t *testing.T) {
	t.Parallel()
	reads := 0
	e := metricmath.Evaluation{
		Expressions: map[string]metricmath.Expression{},
		Metric:      func(string) (*metricmath.Series, bool) { reads++; return series(60, 1, 1), true },
	}
	last := "e0"
	for i := range 60 {
		id := fmt.Sprintf("e%d", i+1)
		parsed, err := metricmath.Parse(last + " + " + last)
		if err != nil {
			t.Fatal(err)
		}
		e.Expressions[id], last = parsed, id
	}
	got, err := e.Query(last)
	if want := fmt.Sprintf("0:%g", math.Pow(2, 60)); err != nil || drawn(got) != want || reads != 1 {
		t.Errorf("got %s (%v) after %d reads, want %s after one", drawn(got), err, reads, want)
	}
}

// Every result is a series whose values are finite, in order, and in periods of
// the grid.
func TestResultsAreOnTheGrid(t *testing.T) {
	t.Parallel()
	expressions := rapid.SampledFrom([]string{
		"a + b", "a / b", "a ^ b", "DIFF(a)", "RATE(b)", "FILL(a, 1 / 2)", "FILL(a, 0) / b", "FILL(a, LINEAR)",
		"FILL(b, REPEAT)", "IF(a > b, a, 0 - b)", "IF(a, b)", "MAX([a, b])", "AVG([a, b, a - b])", "CEIL(a / b)",
	})
	values := rapid.SliceOfN(rapid.OneOf(rapid.Just(float64(gap)), rapid.Float64()), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		all := map[string]*metricmath.Series{
			"a": series(60, 8, values.Draw(t, "a")...), "b": series(60, 8, values.Draw(t, "b")...),
		}
		parsed, err := metricmath.Parse(expressions.Draw(t, "expression"))
		if err != nil {
			t.Fatal(err)
		}
		e := metricmath.Evaluation{
			Expressions:   map[string]metricmath.Expression{"e": parsed},
			Metric:        func(id string) (*metricmath.Series, bool) { s, ok := all[id]; return s, ok },
			MissingAsZero: rapid.Bool().Draw(t, "zero"),
		}
		got, err := e.Query("e")
		if err != nil {
			t.Fatal(err)
		}
		last := int64(-1)
		for _, p := range got.Series.Points {
			period := (p.At - start) / 60
			if (p.At-start)%60 != 0 || period <= last || period >= 8 || math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
				t.Fatalf("point %+v after period %d", p, last)
			}
			last = period
		}
	})
}
