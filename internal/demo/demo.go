// Package demo is the main job, end to end: the stack of template.yaml on this
// machine, the jobs of events/jobs.jsonl, and a payment provider that misbehaves.
package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/demo/provider"
	"github.com/sqsafe/sqsafe/internal/local"
)

// Run runs the demonstration in the root of the repository and gives the exit
// code of the command: 0 if every job has its outcome, none is lost, and each
// job that is done was charged once.
func Run(ctx context.Context, streams cli.Streams) int {
	payments := provider.New()
	url, stop, err := serve(ctx, payments)
	if err != nil {
		return cli.Exit(err, streams)
	}
	defer stop()
	command := &cli.Local{
		Template:  "template.yaml",
		Jobs:      "events/jobs.jsonl",
		UntilIdle: true,
		Addr:      "127.0.0.1:0",
		Overrides: parameters(url),
		Report: func(s local.Summary) ([]cli.Row, error) {
			return audit(payments.Charges(), s.DoneKeys)
		},
	}
	return cli.Exit(command.Run(ctx, streams), streams)
}

// serve answers for the provider at a free port.
func serve(ctx context.Context, h http.Handler) (url string, stop func(), err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("payment provider: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }() // ends with ErrServerClosed at Close
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}

// parameters are those of the template that make failures short enough to watch.
func parameters(paymentURL string) []string {
	return []string{
		"PaymentUrl=" + paymentURL,
		"MaxAttempts=3",
		"FunctionTimeout=6",
		"VisibilityTimeout=36",
		"MaximumConcurrency=2",
	}
}

// audit compares the provider's charges with the jobs that are done: each is to
// have one, and no other job any.
func audit(charges []provider.Charge, doneKeys []string) ([]cli.Row, error) {
	made := map[string]int{}
	for _, c := range charges {
		made[c.Key]++
	}
	wrong := []string{}
	done := map[string]bool{}
	for _, key := range doneKeys {
		if made[key] != 1 || done[key] {
			wrong = append(wrong, key)
		}
		done[key] = true
	}
	for key := range made {
		if !done[key] {
			wrong = append(wrong, key)
		}
	}
	good := len(wrong) == 0
	rows := []cli.Row{
		{Name: "charges wanted", Value: strconv.Itoa(len(doneKeys))},
		{Name: "charges made", Value: strconv.Itoa(len(charges)), Good: &good},
	}
	if !good {
		slices.Sort(wrong)
		return rows, fmt.Errorf("charges and finished jobs differ for %v", wrong)
	}
	return rows, nil
}
