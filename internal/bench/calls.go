package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/tally"
)

// called is what a program that uses DynamoDB sends for one batch of each kind.
type called struct {
	program               string
	jobs                  int
	fresh, known, failing tally.Count
	itemBytes             int
	// logBytes are written for a batch of new jobs.
	logBytes int
}

// countCalls sends a batch of new jobs to each remote program, the same one again, and one
// whose jobs all fail.
func countCalls(ctx context.Context, programs []program) ([]called, error) {
	var all []called
	for _, p := range programs {
		if !p.remote {
			continue
		}
		c, err := p.calls(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (p program) calls(ctx context.Context) (c called, err error) {
	const jobs = 10
	works := shape{messages: jobs, bodyBytes: 1000}.event()
	fails := shape{messages: jobs, bodyBytes: 1000, failEvery: 1}.event()
	c = called{program: p.name, jobs: jobs}
	r, err := p.start(ctx)
	if err != nil {
		return c, err
	}
	defer func() {
		if stopped := r.stop(ctx); err == nil {
			err = stopped
		}
	}()
	if _, err := r.invoke(ctx, works); err != nil {
		return c, err
	}
	written := r.output.written()
	for _, step := range []struct {
		count *tally.Count
		send  func() error
	}{
		{&c.fresh, func() error { _, err := r.invoke(ctx, works); return err }},
		{&c.known, func() error { _, err := r.repeat(ctx, works); return err }},
		{&c.failing, func() error { _, err := r.invoke(ctx, fails); return err }},
	} {
		r.services.tally.Reset()
		if err := step.send(); err != nil {
			return c, err
		}
		*step.count = r.services.tally.Read()
		if step.count == &c.fresh {
			c.logBytes = r.output.written() - written
			if c.itemBytes, err = r.services.itemBytes(ctx); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// writeCalls writes what each job costs in calls as a Markdown table.
func writeCalls(w io.Writer, all []called) error {
	rows := [][]string{{
		"with DynamoDB", "new job", "duplicate", "failed run", "bytes sent for a new job", "its item", "log of a batch",
	}, rule(7)}
	for _, c := range all {
		rows = append(rows, []string{
			c.program, perJob(c.fresh, c.jobs), perJob(c.known, c.jobs), perJob(c.failing, c.jobs),
			fmt.Sprint(c.fresh.Bytes / c.jobs), fmt.Sprintf("%d B", c.itemBytes), fmt.Sprintf("%d B", c.logBytes),
		})
	}
	return writeRows(w, rows)
}

// perJob names the calls for one job.
func perJob(c tally.Count, jobs int) string {
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(c.Calls)) {
		calls = append(calls, fmt.Sprintf("%.3g %s", float64(c.Calls[name])/float64(jobs), name))
	}
	return strings.Join(calls, ", ")
}
