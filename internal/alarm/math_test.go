package alarm_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

// column is a metric of five minutes, of which - are missing.
func column(id string) alarm.Query {
	m := alarm.Metric{Namespace: "Test", Name: id}
	return alarm.Query{ID: id, Metric: m, Statistic: "Sum", Period: time.Minute}
}

// computed gives the values of an expression over columns: each is what the
// alarm's status shows at the end of its minute, with a range of all minutes
// so far. Options.RangeBeyond is 4, so that the last minute sees all five.
func computed(t *testing.T, expression string, columns map[string]string, o alarm.Options) (string, error) {
	t.Helper()
	d := simple(1, 1, "")
	d.Queries = []alarm.Query{{ID: "e", Expression: expression, ReturnData: true}}
	o.RangeBeyond = 4
	e := alarm.NewEvaluator(midnight, &o)
	for id := range columns {
		d.Queries = append(d.Queries, column(id))
	}
	if err := e.Watch(d); err != nil {
		return "", err
	}
	var out []string
	for m := range 5 {
		at := midnight.Add(time.Duration(m) * time.Minute)
		for id, text := range columns {
			if x, err := strconv.ParseFloat(strings.Fields(text)[m], 64); err == nil {
				e.Add(alarm.Value(column(id).Metric, at, x))
			}
		}
		e.Advance(at.Add(time.Minute))
		if v := e.States()[0].Value; v != nil {
			out = append(out, strconv.FormatFloat(*v, 'g', 6, 64))
		} else {
			out = append(out, "-")
		}
	}
	return strings.Join(out, " "), nil
}

var columns = map[string]string{
	"v": "1 2 - 4 8",
	"n": "- 10 20 - 40",
	"z": "- - - - -",
}

func TestMath(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ expression, want string }{
		{"v", "1 2 - 4 8"},
		{"v - 1", "0 1 - 3 7"},
		{"1 - v", "0 -1 - -3 -7"},
		{"-v", "-1 -2 - -4 -8"},
		{"2 * v + 1", "3 5 - 9 17"},
		{"2 * (v + 1)", "4 6 - 10 18"},
		{"v - 1 - 1", "-1 0 - 2 6"},
		{"16 / v / 2", "8 4 - 2 1"},
		{"v ^ 2 * 10", "10 40 - 160 640"},
		{"-v ^ 2", "-1 -4 - -16 -64"},
		{"v * 1.5e1", "15 30 - 60 120"},
		{"v / (v - 1)", "- 2 - 1.33333 1.14286"}, // not divided by 0
		{"v > 1", "0 1 - 1 1"},
		{"v >= 2 AND v < 8", "0 1 - 1 0"},
		{"v == 1 OR v == 8", "1 0 - 0 1"},
		{"v != 1 && v != 8 || v == 1", "1 1 - 1 0"},
		{"v <= 1 + 1", "1 1 - 0 0"},
		{"FILL(n, 0)", "0 10 20 0 40"},
		{"FILL(n, 1 + 2)", "3 10 20 3 40"},
		{"FILL(v, REPEAT)", "1 2 2 4 8"},
		{"FILL(n, REPEAT)", "- 10 20 20 40"},
		{"FILL(FILL(n, REPEAT), 0)", "0 10 20 20 40"},
		{"FILL(v, LINEAR)", "1 2 - 4 8"}, // no line after the last value
		{"DIFF(FILL(v, LINEAR))", "- 1 - 1 4"},
		{"FILL(z, 7)", "7 7 7 7 7"},
		{"FILL(z, REPEAT)", "- - - - -"},
		{"DIFF(v)", "- 1 - 2 4"},
		{"RATE(60 * v)", "- 1 - 1 4"},
		{"v / PERIOD(v) * 60", "1 2 - 4 8"},
		{"ABS(v - 4)", "3 2 - 0 4"},
		{"CEIL(v / 3)", "1 1 - 2 3"},
		{"FLOOR(v / 3)", "0 0 - 1 2"},
		{"MAX([v, n])", "1 10 20 4 40"},
		{"MIN([v, n, v + 1])", "1 2 20 4 8"},
		{"SUM([v, n])", "1 12 20 4 48"},
		{"AVG([v, n])", "0.5 6 10 2 24"},
		{"IF(v > 2, 1, 0)", "0 0 - 1 1"},
		{"IF(v > 2, v)", "- - - 4 8"},
		{"IF(v > 2, v, n)", "- 10 - 4 8"},
		{"IF(v > 2, n, 5)", "5 5 - 0 40"}, // a first value that is missing is 0
		{"IF(1, v)", "1 2 - 4 8"},
		{"IF(0, v, n)", "- 10 20 - 40"},
		{"IF(0, v)", "- - - - -"},
		{"DIFF(z)", "- - - - -"},
	} {
		got, err := computed(t, row.expression, columns, alarm.Options{})
		if err != nil || got != row.want {
			t.Errorf("%s: got %s (%v), want %s", row.expression, got, err, row.want)
		}
	}
}

// A missing operand leaves out the result, or counts as 0. Both readings agree
// on a single series.
func TestMissingOperands(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ expression, dropped, zero string }{
		{"v + n", "- 12 - - 48", "1 12 20 4 48"},
		{"v + FILL(n, 0)", "1 12 - 4 48", "1 12 20 4 48"},
		{"DIFF(v + FILL(n, 0))", "- 11 - -8 44", "1 11 8 -16 44"},
		{"n < v", "- 0 - - 0", "1 0 0 1 0"},
		{"v > 0 AND n > 0", "- 1 - - 1", "0 1 0 0 1"},
		{"IF(v > 0 AND FILL(n, 0) == 0, 1, 0)", "1 0 - 1 0", "1 0 0 1 0"},
		{"v + z", "- - - - -", "1 2 - 4 8"},
		{"DIFF(v) * 2", "- 2 - 4 8", "- 2 - 4 8"},
	} {
		for zero, want := range map[bool]string{false: row.dropped, true: row.zero} {
			got, err := computed(t, row.expression, columns, alarm.Options{MissingAsZero: zero})
			if err != nil || got != want {
				t.Errorf("%s, missing as zero %v: got %s (%v), want %s", row.expression, zero, got, err, want)
			}
		}
	}
}

// An expression may be made of others, in any order.
func TestExpressionsOfExpressions(t *testing.T) {
	t.Parallel()
	d := simple(1, 1, "")
	d.Queries = []alarm.Query{
		{ID: "a", Expression: "b * 10", ReturnData: true}, {ID: "b", Expression: "v + 1"}, column("v"),
	}
	e := alarm.NewEvaluator(midnight, nil)
	watch(t, e, d)
	e.Add(alarm.Value(column("v").Metric, midnight, 4))
	e.Advance(midnight.Add(time.Minute))
	if got := e.States()[0].Value; got == nil || *got != 50 {
		t.Errorf("got %v, want 50", got)
	}
}

func TestExpressionsThatAreWrong(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"v +":                             "ends too early",
		"()":                              ") is not expected",
		"(v":                              "ends too early",
		"v v":                             "v is not expected",
		"v)":                              ") is not expected",
		"* v":                             "* is not expected",
		"[v":                              "ends too early",
		"V":                               "V is not expected",
		"v $ 2":                           `"$" is no part`,
		"1e999 * v":                       "too large",
		"FILL(v)":                         "FILL has 1 arguments: it takes a series and a number",
		"FILL(v, 0, 1)":                   "FILL has 3 arguments",
		"FILL(3, 0)":                      "needs a series, not a number",
		"DIFF()":                          "DIFF has 0 arguments",
		"DIFF(3)":                         "needs a series, not a number",
		"IF(v)":                           "IF has 1 arguments",
		"IF(1, 2, 3)":                     "numbers only",
		"IF(v, REPEAT, 0)":                "REPEAT is not expected",
		"v + LINEAR":                      "LINEAR is not expected",
		"FILL(REPEAT, v)":                 "REPEAT is not expected",
		"PERIOD(v + 1)":                   "the Id of a metric",
		"PERIOD(e)":                       "the Id of a metric",
		"MAX(3)":                          "needs a list of series",
		"MAX([])":                         "needs a list of series",
		"MAX([1, v])":                     "needs a series, not a number",
		"[v, n] + 1":                      "put it into MAX",
		"[v, n]":                          "gives a single number",
		"fill(v, 0)":                      "write FILL in capital letters",
		"metrics()":                       "write METRICS in capital letters",
		"MEDIAN(v)":                       "no function of metric math",
		"x + 1":                           "x, which is the Id of no query",
		"e + 1":                           "depends on itself",
		"1 + 2":                           "gives a single number",
		strings.Repeat("v+", 1025) + "v":  "longer than 2048",
		strings.Repeat("(", 99) + "v":     "nested more than 64 deep",
		strings.Repeat("-", 99) + "v":     "nested more than 64 deep",
		strings.Repeat("ABS(", 99) + "v)": "nested more than 64 deep",
	} {
		_, err := computed(t, expression, columns, alarm.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want an error with %q", expression, err, want)
		}
	}
}

func TestExpressionsThatAreNotImplemented(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"SUM(METRICS())":            "the function METRICS",
		"ANOMALY_DETECTION_BAND(v)": "the function ANOMALY_DETECTION_BAND",
		"RUNNING_SUM(v)":            "the function RUNNING_SUM",
		"v - AVG(v)":                "a single series, which AWS advises against in alarms,",
		"FILL(v, n)":                "filling with a series",
		"ABS([v, n])":               "a list of series within it",
		"IF([v], 1, 0)":             "a list of series",
	} {
		_, err := computed(t, expression, columns, alarm.Options{})
		u, ok := errors.AsType[*alarm.UnsupportedError](err)
		if !ok || u.What != want || !strings.Contains(err.Error(), want+" is not supported here") {
			t.Errorf("%s: got %v, want %q not to be supported", expression, err, want)
		}
	}
}

// Expressions from anywhere are taken or refused, and what is taken can be
// evaluated, in both readings.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"DIFF(v + FILL(n,0))", "100*FILL(n,0)/v", "MAX([v, -n]) ^ 2 != 1e3",
		"IF(v > 2 AND n || 1, AVG([v,n]), .5)", "PERIOD(v)", "RATE(FILL(n, LINEAR))", "((v", "[", "v < = n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		for _, zero := range []bool{false, true} {
			got, err := computed(t, expression, columns, alarm.Options{MissingAsZero: zero})
			if err != nil && got != "" || err == nil && len(strings.Fields(got)) != 5 {
				t.Errorf("%q: %q, %v", expression, got, err)
			}
			if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
				t.Errorf("%q: %q has values that are no numbers", expression, got)
			}
		}
	})
}
