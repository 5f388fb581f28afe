package metricmath

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Limits of an expression: characters as AWS sets them, and a depth of nesting
// that no sensible one has.
const (
	maxExpression = 2048
	maxNesting    = 64
)

var token = regexp.MustCompile(
	`^(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+|[A-Za-z_][A-Za-z0-9_]*|&&|\|\||[=!<>]=|[-+*/^(),<>\[\]])`)

// tokenize splits an expression.
func tokenize(text string) ([]string, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("it is longer than %d characters: split it up", maxExpression)
	}
	var all []string
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		t := token.FindString(rest)
		if t == "" {
			return nil, fmt.Errorf("%q is no part of metric math: leave it out", firstWord(rest))
		}
		all = append(all, t)
		rest = rest[len(t):]
	}
	return all, nil
}

func firstWord(text string) string { return strings.Fields(text)[0] }

// foreign are CloudWatch's functions that are not supported here.
var foreign = []string{
	"ANOMALY_DETECTION_BAND", "DATAPOINT_COUNT", "DATE", "DAY", "DB_PERF_INSIGHTS", "DIFF_TIME", "EPOCH", "FIRST",
	"HOUR", "INSIGHT_RULE_METRIC", "LAMBDA", "LAST", "LOG", "LOG10", "METRICS", "METRIC_COUNT", "MINUTE", "MONTH",
	"REMOVE_EMPTY", "RUNNING_SUM", "SEARCH", "SERVICE_QUOTA", "SLICE", "SORT", "STDDEV", "TIME_SERIES", "YEAR",
}

// unknownFunction says why a function cannot be used.
func unknownFunction(name string) error {
	upper := strings.ToUpper(name)
	_, ours := functions()[upper]
	switch {
	case slices.Contains(foreign, name):
		return unsupported("the function %s", name)
	case ours || slices.Contains(foreign, upper):
		return fmt.Errorf("%s is not a function: write %s in capital letters", name, upper)
	}
	return fmt.Errorf("%s is no function of metric math: correct the name", name)
}
