//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	seed             uint64
	kills            int
	evidence, source string
	keep             bool
}

func parse(arguments []string, w io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(w)
	seed := flags.String("seed", "", "what decides the plan, a whole number; empty draws one")
	flags.IntVar(&s.kills, "kills", 300, "how often processes are hit, once in "+pace.String())
	flags.StringVar(&s.evidence, "evidence", ".build/chaos", "folder for what a campaign that fails leaves behind")
	flags.StringVar(&s.source, "job", "internal/chaos/job", "folder of the program whose processes are hit")
	flags.BoolVar(&s.keep, "keep", false, "leave it behind whatever comes of it")
	if err := flags.Parse(arguments); err != nil {
		return s, err
	}
	if s.kills < leastKills {
		return s, fmt.Errorf("-kills %d: give at least %d, since fewer prove nothing", s.kills, leastKills)
	}
	if *seed == "" {
		s.seed = rand.Uint64N(1e9)
	} else if s.seed, err = strconv.ParseUint(*seed, 10, 64); err != nil {
		return s, fmt.Errorf("-seed %q: give a whole number, or leave it out", *seed)
	}
	if s.source, err = filepath.Abs(s.source); err != nil {
		return s, err
	}
	if _, err := os.Stat(s.source); err != nil {
		return s, fmt.Errorf("-job: %w; run this in the root of the repository", err)
	}
	s.evidence, err = filepath.Abs(filepath.Join(s.evidence, "seed-"+strconv.FormatUint(s.seed, 10)))
	return s, err
}

// leastKills are those of a campaign in which something of each kind happens.
const leastKills = 20

func run(ctx context.Context, arguments []string, out, progress io.Writer) error {
	s, err := parse(arguments, progress)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.attack(ctx, out, progress)
}

func (s settings) attack(ctx context.Context, out, progress io.Writer) (err error) {
	e, err := newEvidence(s.evidence)
	if err != nil {
		return err
	}
	c := &campaign{plan: newPlan(s.seed, s.kills), source: s.source, evidence: e}
	c.describe(out)
	began := time.Now()
	found, err := c.run(ctx, progress)
	if ctx.Err() != nil {
		return errors.Join(errors.New("stopped by a signal; nothing is known"), e.close(s.keep))
	}
	v := judge(found)
	v.broken = append(v.broken, c.idle(v)...)
	if c.summary.Lost > 0 {
		v.breaks("sqsafe local says that %d messages are lost", c.summary.Lost)
	}
	c.report(out, v, time.Since(began))
	failed := err != nil || len(v.broken) > 0
	if failed {
		e.keep(found, v)
	}
	if err = errors.Join(err, e.close(failed || s.keep)); failed || s.keep {
		fmt.Fprintln(out, "what happened is in", s.evidence)
	}
	if len(v.broken) > 0 {
		err = errors.Join(err, fmt.Errorf("%d promises are broken; the same attack again: %s", len(v.broken), c.command()))
	}
	return err
}
