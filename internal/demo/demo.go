// Package demo is the main job, end to end: the stack of template.yaml on this
// machine, the jobs of events/jobs.jsonl, and a payment provider that misbehaves.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
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
	wanted, err := wantedCharges(jobsFile)
	if err != nil {
		return cli.Exit(err, streams)
	}
	command := &cli.Local{
		Template:  "template.yaml",
		Jobs:      jobsFile,
		UntilIdle: true,
		Addr:      "127.0.0.1:0",
		Overrides: parameters(url),
		Report: func(local.Summary) ([]cli.Row, error) {
			return audit(payments.Charges(), wanted)
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

const jobsFile = "events/jobs.jsonl"

// wantedCharges are the ids of the jobs that are to end in a charge.
func wantedCharges(path string) (map[string]bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sample jobs: %w; run this in the root of the repository", err)
	}
	defer file.Close()
	wanted, schedule := map[string]bool{}, provider.DefaultSchedule()
	for decoder := json.NewDecoder(file); ; {
		var job struct {
			Body json.RawMessage `json:"body"`
		}
		if err := decoder.Decode(&job); err == io.EOF {
			return wanted, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if id, ok := schedule.Charges(job.Body); ok {
			wanted[id] = true
		}
	}
}

// audit compares the charges that the provider has made with those that were
// wanted: one for each id, and no other.
func audit(charges []provider.Charge, wanted map[string]bool) ([]cli.Row, error) {
	made := map[string]int{}
	for _, c := range charges {
		made[c.Key]++
	}
	wrong := []string{}
	for id := range wanted {
		if made[id] != 1 {
			wrong = append(wrong, id)
		}
	}
	for key := range made {
		if !wanted[key] {
			wrong = append(wrong, key)
		}
	}
	good := len(wrong) == 0
	rows := []cli.Row{
		{Name: "charges wanted", Value: strconv.Itoa(len(wanted))},
		{Name: "charges made", Value: strconv.Itoa(len(charges)), Good: &good},
	}
	if !good {
		slices.Sort(wrong)
		return rows, fmt.Errorf("charges made and wanted differ for %v", wrong)
	}
	return rows, nil
}
