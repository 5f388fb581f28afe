package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/tally"
)

// called is what a program that uses DynamoDB sends and needs for jobs of one kind.
type called struct {
	program, kind string
	jobs, batches int
	count         tally.Count
	cpu           time.Duration
	// itemBytes is the mean size of all items so far, logBytes what was written.
	itemBytes, logBytes int
}

// Kinds of jobs.
const (
	newJobs, duplicates = "new", "duplicate"
	failing, dying      = "fails, comes back", "fails, dead"
)

// jobsCounted are the jobs of a batch.
const jobsCounted = 10

// countCalls sends batches of each kind to each remote program.
func countCalls(ctx context.Context, programs []program, batches int) ([]called, error) {
	var all []called
	for _, p := range programs {
		if !p.remote {
			continue
		}
		found, err := p.calls(ctx, batches, newJobs, duplicates, failing)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if !p.verdicts {
			continue
		}
		p.environment = maps.Clone(p.environment)
		p.environment["SQSAFE_UNCLASSIFIED_ATTEMPTS"] = "1"
		found, err = p.calls(ctx, batches, dying)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// calls counts in a process of its own, which has seen as many batches before.
func (p program) calls(ctx context.Context, batches int, kinds ...string) (all []called, err error) {
	r, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.stop(ctx)) }()
	for _, kind := range kinds {
		if _, err := r.count(ctx, kind, batches); err != nil {
			return nil, err
		}
		c, err := r.count(ctx, kind, batches)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (r *running) count(ctx context.Context, kind string, batches int) (c called, err error) {
	batch := shape{messages: jobsCounted, bodyBytes: 1000}
	send := r.invoke
	switch kind {
	case failing, dying:
		batch.failEvery = 1
	case duplicates:
		send = r.repeat
	}
	e := batch.event()
	if kind == dying {
		e.failing = nil // what is dead is acknowledged
	}
	c = called{program: r.name, kind: kind, jobs: batches * jobsCounted, batches: batches}
	r.services.tally.Reset()
	written := r.output.written()
	before, err := cpuTime(r.pid)
	if err != nil {
		return c, err
	}
	for range batches {
		if _, err := send(ctx, e); err != nil {
			return c, err
		}
	}
	after, err := cpuTime(r.pid)
	if err != nil {
		return c, err
	}
	c.cpu, c.count, c.logBytes = after-before, r.services.tally.Read(), r.output.written()-written
	c.itemBytes, err = r.services.itemBytes(ctx)
	return c, err
}

// writeCalls writes what each job costs as a Markdown table.
func writeCalls(w io.Writer, all []called) error {
	rows := [][]string{{
		"with DynamoDB", "job", "calls for a job", "bytes sent for a job",
		"processor time of a batch", "log of a batch", "item",
	}, rule(7)}
	for _, c := range all {
		rows = append(rows, []string{
			c.program, c.kind, c.callsPerJob(), fmt.Sprint(c.count.Bytes / c.jobs),
			short(c.cpu / time.Duration(c.batches)), fmt.Sprintf("%d B", c.logBytes/c.batches), fmt.Sprintf("%d B", c.itemBytes),
		})
	}
	return writeRows(w, rows)
}

func (c called) callsPerJob() string {
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(c.count.Calls)) {
		calls = append(calls, fmt.Sprintf("%.3g %s", float64(c.count.Calls[name])/float64(c.jobs), name))
	}
	return strings.Join(calls, ", ")
}
