package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
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
	flags.Float64Var((*float64)(&s.tolerance), "tolerance", 0.1, "what -quick adds to the limits for the noise")
	if err := flags.Parse(arguments); err != nil {
		return s, err
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
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	programs, err := s.programs(ctx, directory)
	if err != nil {
		return err
	}
	return s.compare(ctx, programs, comparisons(shapes()), w)
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

// programs builds the compared programs. All others are compared with the
// first.
func (s settings) programs(ctx context.Context, directory string) ([]program, error) {
	const here = "github.com/sqsafe/sqsafe/internal/bench/"
	names := []string{"bare", "ours", "ledger"}
	if s.noise {
		names = []string{"bare", "bare"}
	}
	programs := make([]program, 0, len(names))
	for _, name := range names {
		binary, err := build(ctx, directory, here+name)
		if err != nil {
			return nil, err
		}
		programs = append(programs, program{name: name, binary: binary})
	}
	return programs, nil
}
