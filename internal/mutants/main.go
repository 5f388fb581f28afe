package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	name    string
	some    int
	seed    int
	listing bool
	all     bool
	area    string
	copied  string
	workers int
}

func parse(arguments []string, w io.Writer, today int) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(w)
	flags.StringVar(&s.name, "name", "", "try only this fault")
	flags.IntVar(&s.some, "some", 0, "try so many faults, which -seed chooses; 0 tries all of them")
	flags.IntVar(&s.seed, "seed", today, "which faults -some tries; the default is the number of the day")
	flags.StringVar(&s.area, "area", "", "try only the faults of this file in the folder faults, such as ledger")
	flags.StringVar(&s.copied, "copy", filepath.Join(".build", "mutants"), "folder of the copy, in the module")
	flags.IntVar(&s.workers, "workers", min(2, runtime.NumCPU()), "how many faults are tried at a time")
	flags.BoolVar(&s.all, "all", false, "run all tests of the package, and tell which of them fail")
	flags.BoolVar(&s.listing, "list", false, "list the faults")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.some < 0 || s.seed < 0 || s.workers < 1 {
		return s, errors.New("want no arguments, no number below 0, and a worker at least; see -help")
	}
	return s, nil
}

func run(ctx context.Context, arguments []string, w io.Writer) error {
	s, err := parse(arguments, w, int(time.Now().Unix()/(24*60*60)))
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := readFaults(folder)
	if err != nil {
		return err
	}
	faults, err := s.choose(all)
	if err != nil {
		return err
	}
	if s.listing {
		for i := range faults {
			fmt.Fprintf(w, "%-36s %s\n", faults[i].Name, faults[i].Fault)
		}
		return nil
	}
	if s.some > 0 && s.name == "" {
		fmt.Fprintf(w, "%d of %d faults, those of seed %d; to repeat: make mutants SOME=%d SEED=%d\n",
			len(faults), len(all), s.seed, s.some, s.seed)
	}
	module, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	t := tree{module: module, copied: filepath.Join(module, s.copied)}
	if s.all {
		for i := range faults {
			faults[i].Test = ".*"
		}
	}
	return t.tryAll(ctx, faults, s.workers, w)
}

// choose returns the faults to try.
func (s settings) choose(all []fault) ([]fault, error) {
	if s.area != "" {
		all = slices.DeleteFunc(all, func(f fault) bool { return f.area != s.area })
		if len(all) == 0 {
			return nil, fmt.Errorf("there is no file faults/%s.yaml", s.area)
		}
	}
	switch {
	case s.name != "":
		at := slices.IndexFunc(all, func(f fault) bool { return f.Name == s.name })
		if at < 0 {
			return nil, fmt.Errorf("there is no fault %q; -list lists them", s.name)
		}
		return all[at : at+1], nil
	case s.some > 0:
		return rotate(all, s.some, s.seed), nil
	default:
		return all, nil
	}
}

// rotate returns n faults, other ones for each seed until all had their turn. They are
// far apart in the list, so that they are of different areas.
func rotate(all []fault, n, seed int) []fault {
	n = min(n, len(all))
	chosen := make([]fault, 0, n)
	stride := (len(all) + n - 1) / n
	for i := range n {
		chosen = append(chosen, all[(seed%stride+i*stride)%len(all)])
	}
	return chosen
}

// copies are so many trees of the module, each with a folder of its own.
func (t tree) copies(n int) []tree {
	all := []tree{t}
	for i := 1; i < n; i++ {
		all = append(all, tree{module: t.module, copied: fmt.Sprintf("%s-%d", t.copied, i+1)})
	}
	return all
}

// tryAll tries the faults, so many at a time, and reports each. The error names those that
// were not caught.
func (t tree) tryAll(ctx context.Context, faults []fault, workers int, w io.Writer) error {
	begin := time.Now()
	copies := t.copies(min(workers, len(faults)))
	for _, one := range copies {
		if err := one.refresh(); err != nil {
			return err
		}
	}
	if err := t.baseline(ctx, faults); err != nil {
		return err
	}
	fmt.Fprintf(w, "the tests pass without a fault, after %s\n", time.Since(begin).Round(time.Second))
	next, tried := make(chan *fault, len(faults)), make(chan trial, len(faults))
	for i := range faults {
		next <- &faults[i]
	}
	close(next)
	for _, one := range copies {
		go func() {
			for f := range next {
				at := time.Now()
				tests, err := one.try(ctx, f)
				tried <- trial{f, tests, err, time.Since(at)}
			}
		}()
	}
	var wrong []string
	for n := range faults {
		one := <-tried
		if ctx.Err() != nil {
			return ctx.Err()
		}
		one.print(w, n+1, len(faults))
		if one.err != nil {
			wrong = append(wrong, one.fault.Name)
		}
	}
	fmt.Fprintf(w, "%d faults, %d caught, in %s\n",
		len(faults), len(faults)-len(wrong), time.Since(begin).Round(time.Second))
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b string) int { return cmp.Compare(place(faults, a), place(faults, b)) })
		return fmt.Errorf("not caught: %s", strings.Join(wrong, ", "))
	}
	return nil
}

// place is where a fault is in the list.
func place(faults []fault, name string) int {
	return slices.IndexFunc(faults, func(f fault) bool { return f.Name == name })
}

// trial is what came of a fault.
type trial struct {
	fault *fault
	tests []string
	err   error
	took  time.Duration
}

// print reports the trial, which is number n of all.
func (t trial) print(w io.Writer, n, all int) {
	if t.err != nil {
		fmt.Fprintf(w, "%3d/%d FAIL    %5.1f s  %s: %v\n", n, all, t.took.Seconds(), t.fault.Name, t.err)
		return
	}
	fmt.Fprintf(w, "%3d/%d caught  %5.1f s  %-32s by %s in %s\n",
		n, all, t.took.Seconds(), t.fault.Name, strings.Join(t.tests, ", "), t.fault.target().packageName)
}

// moduleRoot returns the folder of the module that the command runs in.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
