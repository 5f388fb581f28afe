package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// simulator and histories are the package and the test that play histories.
	simulator = "./internal/simulation/system"
	histories = "TestPromisesHoldInAllHistories"
	// testLimit bounds the run of a test, simulatorLimit that of the simulator.
	testLimit      = 2 * time.Minute
	simulatorLimit = 20 * time.Minute
)

// target is a run of tests: one package, the tests by name, and the histories of the
// simulator if it is the simulator.
type target struct {
	packageName     string
	tests           []string
	histories, seed int
}

func (f *fault) target() target {
	if f.Histories > 0 {
		return target{packageName: simulator, tests: []string{histories}, histories: f.Histories, seed: f.seed()}
	}
	return target{packageName: f.Package, tests: strings.Split(f.Test, "|")}
}

// verdict is what a run of tests has shown.
type verdict int

const (
	// passed: the tests ran, and none failed.
	passed verdict = iota
	// failed: a test failed.
	failed
	// useless: the run shows nothing, because it did not build, ran no test, or hung.
	useless
)

// goTest runs tests in the copy. The error is only for a useless run.
func (t tree) goTest(ctx context.Context, to target, cached bool) (verdict, string, error) {
	limit := testLimit
	if to.histories > 0 {
		limit = simulatorLimit
	}
	args := []string{"test", "-vet=off", "-timeout", limit.String(), "-run", "^(" + strings.Join(to.tests, "|") + ")$"}
	if !cached {
		args = append(args, "-count=1")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, to.packageName)...)
	cmd.Dir = t.copied
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SQSAFE_") })
	if to.histories > 0 {
		cmd.Env = append(cmd.Env,
			"SQSAFE_HISTORIES="+strconv.Itoa(to.histories), "SQSAFE_SEED="+strconv.Itoa(to.seed), "SQSAFE_FIRST=1")
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	v, problem := judge(output.String(), err == nil)
	return v, output.String(), problem
}

// judge reads the output of go test.
func judge(output string, ok bool) (verdict, error) {
	switch {
	case strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]"):
		return useless, errors.New("the code does not build, so no test was run")
	case strings.Contains(output, "[no tests to run]") || strings.Contains(output, "[no test files]"):
		return useless, errors.New("there is no test of that name")
	case strings.Contains(output, "panic: test timed out after"):
		return useless, errors.New("the test hangs until its time limit; let a test fail by itself")
	case ok:
		return passed, nil
	case strings.Contains(output, "--- FAIL: ") || strings.Contains(output, "panic: ") ||
		strings.Contains(output, "fatal error: ") || failedPackage.MatchString(output):
		return failed, nil
	default:
		return useless, errors.New("go test could not be run")
	}
}

// try puts a fault into the copy, runs its tests, and takes it out again. The error says
// why the fault does not count as caught; otherwise the tests that failed are returned.
func (t tree) try(ctx context.Context, f *fault) ([]string, error) {
	faulty, sound, err := f.apply(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(t.module, name)) })
	if err != nil {
		return nil, err
	}
	if err := t.writeAll(faulty); err != nil {
		return nil, err
	}
	v, output, problem := t.goTest(ctx, f.target(), false)
	if err := t.writeAll(sound); err != nil {
		return nil, err
	}
	switch v {
	case failed:
		return failedTests(output), nil
	case passed:
		return nil, fmt.Errorf("it SURVIVED: no failure by %s\n"+
			"write a test that fails with it, and name that in faults/%s.yaml", f.catcher(), f.area)
	default:
		return nil, fmt.Errorf("%w\n%s", problem, output)
	}
}

var (
	failedPackage = regexp.MustCompile(`(?m)^FAIL\t`)
	failedTest    = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	failedHistory = regexp.MustCompile(`(?m)^ +system_test\.go:\d+: (history \d+):\n +(.*)`)
)

// failedTests returns the names of the tests that failed, as far as the output has them;
// for the simulator the histories and the promises that they break.
func failedTests(output string) []string {
	var names []string
	for _, match := range failedHistory.FindAllStringSubmatch(output, -1) {
		names = append(names, fmt.Sprintf("%s (%.60s)", match[1], match[2]))
	}
	if names != nil {
		return names
	}
	for _, match := range failedTest.FindAllStringSubmatch(output, -1) {
		if !slices.Contains(names, match[1]) {
			names = append(names, match[1])
		}
	}
	return names
}

// baseline runs the tests of the faults on the code as it is: a test that fails anyway
// catches nothing.
func (t tree) baseline(ctx context.Context, faults []fault) error {
	for _, to := range merged(faults) {
		v, output, problem := t.goTest(ctx, to, true)
		switch {
		case v == failed:
			return fmt.Errorf("%s fails without any fault, so it proves nothing:\n%s", to.packageName, output)
		case problem != nil:
			return fmt.Errorf("%s: %s: %w\n%s", to.packageName, strings.Join(to.tests, ", "), problem, output)
		}
	}
	return nil
}

// merged returns the targets of the faults, with one run for all tests of a package. The
// histories of the simulator stay separate.
func merged(faults []fault) []target {
	var all []target
	for i := range faults {
		to := faults[i].target()
		at := slices.IndexFunc(all, func(other target) bool {
			return other.packageName == to.packageName && other.seed == to.seed && (other.histories > 0) == (to.histories > 0)
		})
		if at < 0 {
			all = append(all, to)
			continue
		}
		all[at].histories = max(all[at].histories, to.histories)
		for _, test := range to.tests {
			if !slices.Contains(all[at].tests, test) {
				all[at].tests = append(all[at].tests, test)
			}
		}
	}
	return all
}
