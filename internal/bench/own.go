package main

import (
	"cmp"
	"context"
	"strconv"
)

// own is a program of this module, in the folder of its name.
type own struct {
	folder string
	// atOnce is how many messages of a batch run at a time, in programs that use DynamoDB; 0
	// in the others.
	atOnce int
	// title is the name in tables; empty means the folder.
	title string
}

func (o own) program(ctx context.Context, directory string) (program, error) {
	binary, err := build(ctx, directory, "github.com/sqsafe/sqsafe/internal/bench/"+o.folder)
	p := program{name: cmp.Or(o.title, o.folder), binary: binary}
	if o.atOnce > 0 {
		n := strconv.Itoa(o.atOnce)
		p.remote, p.verdicts = true, o.folder == "start"
		p.environment = map[string]string{"BENCH_CONCURRENCY": n, "SQSAFE_CONCURRENCY": n}
	}
	return p, err
}

func buildAll(ctx context.Context, directory string, all []own) ([]program, error) {
	programs := make([]program, 0, len(all))
	for _, o := range all {
		p, err := o.program(ctx, directory)
		if err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// set are programs that are measured together. All others are compared with the first.
type set struct {
	programs []program
	shapes   []shape
}

// sets are what is measured without -compare.
func (s settings) sets(ctx context.Context, directory string) ([]set, error) {
	if s.noise {
		programs, err := buildAll(ctx, directory, []own{{folder: "bare"}, {folder: "bare"}})
		return []set{{programs, shapes()}}, err
	}
	var all []set
	for _, each := range []struct {
		programs []own
		shapes   []shape
	}{
		{[]own{{folder: "bare"}, {folder: "ours"}, {folder: "ledger"}}, shapes()},
		{withDynamoDB(1), remoteShapes("DynamoDB, one at a time", limitInOrder)},
		{withDynamoDB(10), remoteShapes("DynamoDB, 10 at a time", limitAtOnce)},
	} {
		programs, err := buildAll(ctx, directory, each.programs)
		if err != nil {
			return nil, err
		}
		all = append(all, set{programs, each.shapes})
	}
	return all, nil
}

// withDynamoDB are two calls by hand, and ours.
func withDynamoDB(atOnce int) []own {
	return []own{{folder: "byhand", atOnce: atOnce}, {folder: "start", atOnce: atOnce}}
}

// The largest ratios of processor time to two calls by hand. One at a time, ours claims
// ahead all the same, and two calls by hand do not.
const limitInOrder, limitAtOnce = 0.80, 1.10

// remoteShapes are those in which programs with DynamoDB are compared.
func remoteShapes(how string, limit float64) []shape {
	return []shape{{name: "10 × 1 KB, " + how, messages: 10, bodyBytes: 1000, again: 1, limits: []float64{limit}}}
}
