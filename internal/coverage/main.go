// Command coverage fails if the tests of the packages that keep the promises cover fewer
// statements than they did. It runs the tests of each package and counts what they cover
// of that package.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// limit is the least coverage of a package.
type limit struct {
	// path is the package's path below the module.
	path string
	// least is in percent of the statements.
	least float64
}

// limits are a little below what was measured, since which statements random tests reach
// differs from run to run. Raise them when the coverage rises.
var limits = []limit{
	{"fault", 100},
	{"backoff", 100},
	{"idem", 97.5},
	{"handler", 98.5},
	{"internal/runqueue", 99.5},
	{"internal/deadline", 100},
	{"internal/usercall", 94.7},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	args := []string{"test", "-cover"}
	for _, l := range limits {
		args = append(args, "./"+l.path)
	}
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return check(w, limits, string(out))
}

// line is what go test prints of a package whose tests passed.
var line = regexp.MustCompile(`(?m)^ok\s+\S+?/sqsafe/sqsafe/(\S+)\s.*coverage: ([0-9.]+)% of statements`)

// check writes the coverage of each package. The error names the packages below their
// limits.
func check(w io.Writer, limits []limit, output string) error {
	measured := map[string]float64{}
	for _, match := range line.FindAllStringSubmatch(output, -1) {
		percent, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			return err
		}
		measured[match[1]] = percent
	}
	var problems []error
	for _, l := range limits {
		percent, ok := measured[l.path]
		switch {
		case !ok:
			problems = append(problems, fmt.Errorf("package %s: go test reports no coverage of it", l.path))
			continue
		case percent < l.least:
			problems = append(problems, fmt.Errorf("package %s: %.1f %% of the statements are covered, want at least %.1f %%; "+
				"see which are not with: go test -coverprofile cover.out ./%s && go tool cover -html cover.out; "+
				"then test them, or remove them", l.path, percent, l.least, l.path))
		}
		if _, err := fmt.Fprintf(w, "%-20s %5.1f %%, at least %5.1f %%\n", l.path, percent, l.least); err != nil {
			return err
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}
