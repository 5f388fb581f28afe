package main

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// competitors are all programs that -compare measures, and what is missing of them.
type competitors struct {
	programs []program
	missing  []string
}

// newCompetitors builds our programs into the directory and installs the others. The first
// program is bare, and the first with DynamoDB that with two calls by hand.
func newCompetitors(ctx context.Context, directory string, i installer) (competitors, error) {
	programs, err := buildAll(ctx, directory, []own{
		{folder: "bare", title: "aws-lambda-go alone"},
		{folder: "ours", title: "sqsafe, no ledger"},
		{folder: "ledger", title: "sqsafe, ledger in memory"},
		{folder: "byhand", title: "two calls by hand, 10 at a time", atOnce: 10},
		{folder: "start", title: "sqsafe.Start, 10 at a time", atOnce: 10},
	})
	if err != nil {
		return competitors{}, err
	}
	return i.addPeers(ctx, competitors{programs: programs})
}

// addPeers adds Powertools for all languages, or says why one is missing.
func (i installer) addPeers(ctx context.Context, c competitors) (competitors, error) {
	for _, l := range languages() {
		folder, err := i.prepare(ctx, l)
		if err != nil {
			c.missing = append(c.missing, fmt.Sprintf("Powertools for %s is not measured: %v", l.title, err))
			continue
		}
		for _, file := range []string{batch, idempotent} {
			p, err := i.peer(l, folder, file)
			if err != nil {
				return c, err
			}
			c.programs = append(c.programs, p)
		}
	}
	return c, nil
}

// compareAll measures all programs and writes a table for each shape, and one of the calls.
func (s settings) compareAll(ctx context.Context, directory string, w io.Writer) error {
	c, err := newCompetitors(ctx, directory, newInstaller(s.install))
	if err != nil {
		return err
	}
	for _, line := range c.missing {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	all := comparisons(s.chosen(comparedShapes()))
	if len(all) == 0 {
		return s.noShape()
	}
	for _, one := range all {
		programs := c.of(one.shape)
		if err := s.measure(ctx, programs, []*comparison{one}); err != nil {
			return err
		}
		if err := writeCompared(w, programs, one); err != nil {
			return err
		}
	}
	counted, err := countCalls(ctx, c.programs, batchesCounted)
	if err != nil {
		return err
	}
	return writeCalls(w, counted)
}

// batchesCounted is how many batches of each kind are counted.
const batchesCounted = 20

// of returns the programs that take part in a shape.
func (c competitors) of(s shape) []program {
	return slices.DeleteFunc(slices.Clone(c.programs), func(p program) bool { return p.remote && s.messages == 0 })
}

// comparedShapes are those in which all programs can take part: no message fails, since
// the emulator of SQS does not have the messages of the event. For the largest batch those
// with DynamoDB are left out: it is 12,000 calls, minutes for some of them.
func comparedShapes() []shape {
	return []shape{
		{name: "1 × 200 B", messages: 1, bodyBytes: 200},
		{name: "10 × 1 KB", messages: 10, bodyBytes: 1000},
		{name: "1,000 × 1 KB", messages: 1000, bodyBytes: 1000},
		{name: "max × 200 B", bodyBytes: 200},
	}
}
