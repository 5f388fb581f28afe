package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	two := []limit{{"fault", 100}, {"internal/runqueue", 99.5}}
	const (
		module   = "github.com/sqsafe/sqsafe/"
		fault    = "ok  \t" + module + "fault\t0.4s\tcoverage: 100.0% of statements\n"
		runqueue = "ok  \t" + module + "internal/runqueue\t(cached)\tcoverage: 99.8% of statements\n"
	)
	tests := []struct {
		name, output string
		problems     []string
	}{
		{"enough", fault + runqueue, nil},
		{"just enough", fault + strings.Replace(runqueue, "99.8", "99.5", 1), nil},
		{
			"too little", fault + strings.Replace(runqueue, "99.8", "99.4", 1),
			[]string{"package internal/runqueue: 99.4 % of the statements are covered, want at least 99.5 %", "go tool cover"},
		},
		{"one without", runqueue, []string{"package fault: go test reports no coverage"}},
		{"nothing", "", []string{"fault", "internal/runqueue"}},
		{"another package of that name", fault + strings.Replace(runqueue, "internal/", "x/internal/", 1),
			[]string{"package internal/runqueue: go test reports no coverage"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := check(&out, two, test.output)
			if (err == nil) != (test.problems == nil) {
				t.Fatalf("error %v, want one: %v", err, test.problems != nil)
			}
			for _, want := range test.problems {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
		})
	}
}

// A package that is renamed or removed takes its limit along.
func TestLimitsAreOfPackages(t *testing.T) {
	t.Parallel()
	for _, l := range limits {
		if entries, err := os.ReadDir("../../" + l.path); err != nil || len(entries) == 0 {
			t.Errorf("limit of %s: %v", l.path, err)
		}
	}
}
