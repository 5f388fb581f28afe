// Package demo runs the main example end to end: the stack of template.yaml on
// this machine, the jobs of events/jobs.jsonl, and a provider that fails on
// schedule.
package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/demo/provider"
	"github.com/sqsafe/sqsafe/internal/local"
)

// Run runs the demonstration in the root of the repository and returns the exit
// code of the command: 0 if every job has its expected outcome, none is lost,
// and each job that is done took effect once.
func Run(ctx context.Context, streams cli.Streams) int {
	jobs, err := readJobs(jobsFile)
	if err != nil {
		return cli.Exit(err, streams)
	}
	calls, goods := provider.New(), &stock{}
	url, stop, err := serve(ctx, calls)
	if err != nil {
		return cli.Exit(err, streams)
	}
	defer stop()
	command := &cli.Local{
		Template:  "template.yaml",
		Jobs:      jobsFile,
		UntilIdle: true,
		Addr:      "127.0.0.1:0",
		Overrides: parameters(url),
		Prepare:   goods.seed,
		Report: func(local.Summary) ([]cli.Row, error) {
			left, err := goods.left(context.WithoutCancel(ctx))
			if err != nil {
				return nil, err
			}
			return audit(wantedOf(jobs), calls.Charges(), calls.Messages(), left)
		},
	}
	return cli.Exit(command.Run(ctx, streams), streams)
}

// serve serves the provider at a free port.
func serve(ctx context.Context, h http.Handler) (url string, stop func(), err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("provider: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }() // Serve returns ErrServerClosed after Close
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}

// parameters returns parameters of the template with short waits, so that
// failures can be watched.
func parameters(providerURL string) []string {
	return []string{
		"PaymentUrl=" + providerURL,
		"NotifyUrl=" + providerURL,
		"MaxAttempts=3",
		"FunctionTimeout=6",
		"VisibilityTimeout=36",
		"MaximumConcurrency=2",
	}
}
