package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	plan
	tolerance
	quick, noise bool
	// shape is a part of the names of the shapes to measure.
	shape string
	// install is the folder for Powertools.
	install string
}

// chosen are those of the shapes that are to be measured.
func (s settings) chosen(all []shape) []shape {
	return slices.DeleteFunc(all, func(one shape) bool { return !strings.Contains(one.name, s.shape) })
}

func (s settings) noShape() error {
	return fmt.Errorf("-shape %s: no shape has this in its name; without -shape all are measured", s.shape)
}

// The plan of -quick; docs/performance.md says how exact its results are.
var quickPlan = plan{rounds: 4, window: 120 * time.Millisecond}

func parse(arguments []string, w io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(w)
	flags.IntVar(&s.rounds, "rounds", 8, "how often each shape is measured")
	flags.DurationVar(&s.window, "window", 400*time.Millisecond, "time of each program for a shape in a round")
	flags.BoolVar(&s.quick, "quick", false,
		"measure for a minute, whatever -rounds and -window say, and fail over a limit")
	flags.BoolVar(&s.noise, "noise", false, "compare bare with itself, which shows what the machine adds")
	flags.BoolVar(&s.peers, "compare", false, "compare with Powertools and two calls by hand too, which takes long")
	flags.StringVar(&s.install, "install", ".build/compare", "where -compare installs Powertools")
	flags.StringVar(&s.shape, "shape", "", "measure only the shapes that have this in their names")
	flags.Float64Var((*float64)(&s.tolerance), "tolerance", 0.1, "what -quick adds to the limits for the noise")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	if s.quick && s.peers {
		return s, errors.New("-compare has no limits to hold: leave out -quick")
	}
	if s.quick {
		s.plan = quickPlan
	}
	if s.rounds < 1 || s.window <= 0 {
		return s, fmt.Errorf("%d rounds with a window of %v measure nothing: give at least 1 round and a window above 0",
			s.rounds, s.window)
	}
	return s, nil
}

func run(ctx context.Context, arguments []string, w io.Writer) error {
	s, err := parse(arguments, w)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	s.progress = terminal(os.Stderr)
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	if s.peers {
		return s.compareAll(ctx, directory, w)
	}
	sets, err := s.sets(ctx, directory)
	if err != nil {
		return err
	}
	measured := false
	for _, set := range sets {
		if all := comparisons(s.chosen(set.shapes)); len(all) > 0 {
			if measured {
				_, _ = fmt.Fprintln(w) // between two tables
			}
			measured = true
			err = errors.Join(err, s.compare(ctx, set.programs, all, w))
		}
	}
	if !measured {
		return s.noShape()
	}
	return err
}

// compare measures and reports. With -quick, what is over the limit is measured
// again before it counts as a failure.
func (s settings) compare(ctx context.Context, programs []program, all []*comparison, w io.Writer) error {
	if err := s.measure(ctx, programs, all); err != nil {
		return err
	}
	if s.quick {
		if err := s.measure(ctx, programs, s.exceeded(all)); err != nil {
			return err
		}
	}
	if err := writeTable(w, programs, all); err != nil || !s.quick {
		return err
	}
	return s.report(programs, s.exceeded(all))
}
