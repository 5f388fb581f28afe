package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// plan says how much is measured.
type plan struct {
	rounds int
	// window is how long each program works on a shape in each round.
	window time.Duration
	// peers says that programs in other languages take part: a thousand messages with
	// DynamoDB take some of them ten seconds, and Node.js compiles what has run for a while.
	// So one invocation is enough, nobody works for longer than its window, and all have a
	// second before it.
	peers bool
	// progress shows what is measured on a terminal; nil elsewhere.
	progress io.Writer
}

const (
	// leastInvocations is the minimum number of invocations in a window, so
	// that a short window has complete cycles of garbage collection.
	leastInvocations = 4
	// turns is how often the programs alternate in a window.
	turns = 8
	// warmInvocations is the minimum number of invocations before the window.
	// They last at least an eighth of it.
	warmInvocations = 2
)

func (p plan) least() int {
	if p.peers {
		return 1
	}
	return leastInvocations
}

func (p plan) warmUp() (least int, duration time.Duration) {
	if p.peers {
		return 1, time.Second
	}
	return warmInvocations, p.window / 8
}

// cost is what a program used for the invocations of one window.
type cost struct {
	invocations int
	cpu, wall   time.Duration
}

func (c cost) perInvocation(total time.Duration) time.Duration {
	return total / time.Duration(max(c.invocations, 1))
}

// costs has the cost of each program in one window.
type costs []cost

// comparison has the measurements for one shape.
type comparison struct {
	shape
	event *event
	costs []costs
}

func comparisons(all []shape) []*comparison {
	found := make([]*comparison, 0, len(all))
	for _, s := range all {
		found = append(found, &comparison{shape: s, event: s.event()})
	}
	return found
}

// measure adds the costs of each shape, round by round. Each round measures all
// shapes, so that a time in which the machine is busy does not affect only one
// of them.
func (p plan) measure(ctx context.Context, programs []program, all []*comparison) error {
	defer p.show("")
	for round := range p.rounds {
		for _, c := range all {
			p.show(fmt.Sprintf("%s: round %d of %d", c.name, round+1, p.rounds))
			for range 1 + c.again {
				found, err := p.round(ctx, programs, c.event, round%2 == 1)
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				c.costs = append(c.costs, found)
			}
		}
	}
	return nil
}

// show replaces the line of progress.
func (p plan) show(line string) {
	if p.progress != nil {
		_, _ = fmt.Fprint(p.progress, "\r\x1b[K", line)
	}
}

// terminal returns the file if it is a terminal, else nil.
func terminal(file *os.File) io.Writer {
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return file
}

// round runs the programs in short turns, each in its own process.
func (p plan) round(ctx context.Context, programs []program, e *event, backwards bool) (found costs, err error) {
	var processes []*running
	defer func() {
		for _, r := range processes {
			err = errors.Join(err, r.stop(ctx))
		}
	}()
	for _, program := range programs {
		r, err := program.start(ctx)
		if err != nil {
			return nil, err
		}
		processes = append(processes, r)
		least, warmUp := p.warmUp()
		if _, err := r.work(ctx, e, warmUp, least); err != nil {
			return nil, err
		}
	}
	return p.takeTurns(ctx, processes, e, backwards)
}

// takeTurns counts the processor time over all turns: what a process does after
// its answer, such as garbage collection, happens during the turn of another. Nobody has
// two turns in a row, which would find its memory in the caches.
func (p plan) takeTurns(ctx context.Context, processes []*running, e *event, backwards bool) (costs, error) {
	before, err := cpuTimes(processes)
	if err != nil {
		return nil, err
	}
	found := make(costs, len(processes))
	order := make([]int, len(processes))
	for i := range order {
		order[i] = i
	}
	if backwards {
		slices.Reverse(order)
	}
	for slices.ContainsFunc(found, p.unfinished) {
		for _, i := range order {
			if p.peers && !p.unfinished(found[i]) {
				continue
			}
			c, err := processes[i].work(ctx, e, p.window/turns, 1)
			if err != nil {
				return nil, err
			}
			found[i].invocations += c.invocations
			found[i].wall += c.wall
		}
	}
	after, err := cpuTimes(processes)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].cpu = after[i] - before[i]
	}
	return found, nil
}

func cpuTimes(processes []*running) ([]time.Duration, error) {
	times := make([]time.Duration, 0, len(processes))
	for _, r := range processes {
		t, err := cpuTime(r.pid)
		if err != nil {
			return nil, err
		}
		times = append(times, t)
	}
	return times, nil
}

func (p plan) unfinished(c cost) bool { return c.wall < p.window || c.invocations < p.least() }

// work invokes the process repeatedly, for at least window, and no fewer than
// least times.
func (r *running) work(ctx context.Context, e *event, window time.Duration, least int) (cost, error) {
	var c cost
	for c.wall < window || c.invocations < least {
		took, err := r.invoke(ctx, e)
		if err != nil {
			return cost{}, err
		}
		c.wall += took
		c.invocations++
	}
	return c, nil
}
