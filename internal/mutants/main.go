package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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
	flags.BoolVar(&s.all, "all", false, "run all tests of the package, and tell which of them fail")
	flags.BoolVar(&s.listing, "list", false, "list the faults")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.some < 0 || s.seed < 0 {
		return s, errors.New("want no arguments, and no number below 0; see -help")
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
	return t.tryAll(ctx, faults, w)
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

// tryAll tries the faults and reports each. The error names those that were not caught.
func (t tree) tryAll(ctx context.Context, faults []fault, w io.Writer) error {
	begin := time.Now()
	if err := t.refresh(); err != nil {
		return err
	}
	if err := t.baseline(ctx, faults); err != nil {
		return err
	}
	fmt.Fprintf(w, "the tests pass without a fault, after %s\n", time.Since(begin).Round(time.Second))
	var wrong []string
	for i := range faults {
		f, at := &faults[i], time.Now()
		tests, err := t.try(ctx, f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		took := time.Since(at).Seconds()
		if err != nil {
			wrong = append(wrong, f.Name)
			fmt.Fprintf(w, "FAIL    %5.1f s  %s: %v\n", took, f.Name, err)
			continue
		}
		fmt.Fprintf(w, "caught  %5.1f s  %-32s by %s in %s\n",
			took, f.Name, strings.Join(tests, ", "), f.target().packageName)
	}
	fmt.Fprintf(w, "%d faults, %d caught, in %s\n",
		len(faults), len(faults)-len(wrong), time.Since(begin).Round(time.Second))
	if len(wrong) > 0 {
		return fmt.Errorf("not caught: %s", strings.Join(wrong, ", "))
	}
	return nil
}

// moduleRoot returns the folder of the module that the command runs in.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
