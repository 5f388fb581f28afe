//go:build unix

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

// command repeats the attack.
func (c *campaign) command() string {
	return fmt.Sprintf("make chaos SEED=%d KILLS=%d", c.seed, len(c.strikes))
}

// describe says what comes, and how to have it again.
func (c *campaign) describe(w io.Writer) {
	bad := 0
	for _, j := range c.jobs {
		if j.end != well {
			bad++
		}
		c.evidence.record(planFile, map[string]any{
			"job": j.id, "at": j.at.Seconds(), "queue": j.queue.name(), "group": j.group, "end": j.end,
			"before": j.before.Seconds(), "after": j.after.Seconds(), "copies": len(j.copies), "answers": j.answers,
		})
	}
	for _, s := range c.strikes {
		c.evidence.record(planFile, map[string]any{
			"signal": name(s.signal), "host": s.host, "at": s.at.Seconds(), "freeze": s.freeze.Seconds(),
			"victim": s.victim, "crowd": s.crowd, "aimed": s.aimed, "busy": s.busy,
			"while": s.while.Seconds(),
		})
	}
	for _, o := range c.outages {
		c.evidence.record(planFile, map[string]any{"outage": o.what, "at": o.from.Seconds(), "to": o.to.Seconds()})
	}
	fmt.Fprintf(w, "seed %d: %d kills in %s, %d jobs of which %d are poison, %d outages\n",
		c.seed, len(c.strikes), c.length, len(c.jobs), bad, len(c.outages))
	fmt.Fprintf(w, "again: %s\n", c.command())
	fmt.Fprintln(w, "The same plan then; real processes do not run twice in the same way.")
}

// report says what came of it.
func (c *campaign) report(w io.Writer, v verdict, took time.Duration) {
	sent, lone, hits := c.striker.count()
	calls, harms := c.proxy.count()
	_, answers := c.provider.book()
	functions, workers := c.fleet.starts()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(what string, value any) { fmt.Fprintf(t, "%s\t%v\n", what, value) }
	row("kills", sent)
	rows(row, hits)
	row("healthy jobs that were hit while they ran alone", lone)
	row("processes of functions", functions)
	row("processes of workers", workers)
	row("calls of SQS and DynamoDB", calls)
	rows(row, harms)
	row("calls of the provider", total(answers))
	rows(row, answers)
	row("steps", v.steps)
	row("dead letters that were sent back", c.replayed)
	row("jobs", len(c.jobs))
	row("  done", v.done)
	row("  dead as they should be", v.dead)
	row("  excused: hit in two lone runs in a row", v.excused)
	row("keys", v.keys)
	row("effects", v.effects)
	row("calls that were repeated", v.repeated)
	row("dead letters that came twice", v.doubled)
	row("seconds until the last job ended", c.drained.Round(time.Second).Seconds())
	row("seconds", took.Round(time.Second).Seconds())
	row("broken promises", len(v.broken))
	_ = t.Flush() // whoever reads it has gone
	const most = 30
	for _, problem := range v.broken[:min(len(v.broken), most)] {
		fmt.Fprintln(w, "BROKEN:", problem)
	}
	if n := len(v.broken) - most; n > 0 {
		fmt.Fprintf(w, "and %d more\n", n)
	}
}

func rows[K ~string](row func(string, any), counts map[K]int) {
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		row("  "+string(what), counts[what])
	}
}

func total[K comparable](counts map[K]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// idle says what the campaign did not do although it should have: a campaign that does
// nothing finds nothing.
func (c *campaign) idle(v verdict) []string {
	var none []string
	need := func(what string, n int) {
		if n == 0 {
			none = append(none, "the campaign proves nothing: no "+what)
		}
	}
	sent, _, hits := c.striker.count()
	if sent < len(c.strikes) {
		none = append(none, fmt.Sprintf("the campaign proves too little: %d kills, want %d", sent, len(c.strikes)))
	}
	for _, host := range []string{inFunction, inWorker} {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSTOP} {
			what := name(signal) + " of a " + host
			need(what, hits[what])
		}
	}
	_, harms := c.proxy.count()
	for _, h := range []harm{delays, throttles, resets, loses} {
		need("call "+string(h), harms[h])
	}
	need("step", v.steps)
	need("dead letter that was sent back", c.replayed)
	_, answers := c.provider.book()
	need("failure of the provider", total(answers)-answers[fine])
	return none
}
