//go:build unix

// Command job is what the kill campaign runs: a Lambda function or, where the
// environment names a queue to poll, a worker. Its jobs call a provider, take their
// time, and end as they say.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/worker"
)

// job is the payload.
type job struct {
	ID string `json:"id"`
	// Before and After are how many milliseconds it works before and after its effect.
	Before int `json:"before"`
	After  int `json:"after"`
	// End is how it ends; empty means well.
	End string `json:"end"`
	// Stepped: it has a step before its effect.
	Stepped bool `json:"stepped"`
}

// Validate refuses what the campaign does not send.
func (j job) Validate() error {
	if j.ID == "" {
		return errors.New("id is missing")
	}
	return nil
}

func main() {
	key := sqsafe.KeyField("id")
	if os.Getenv("SQSAFE_QUEUE_URL") == "" {
		sqsafe.Start(run, key)
	}
	go endWithParent()
	worker.Start(run, key)
}

// endWithParent ends the process when the campaign is gone, and with it the other end
// of standard input.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func run(ctx context.Context, j job) error {
	begun, err := call(ctx, "run", j)
	if err != nil {
		return err
	}
	defer begun.Close() // the provider sees that the run is over, as it sees the end of the process
	if err := work(ctx, j.Before); err != nil {
		return err
	}
	if err := step(ctx, j); err != nil {
		return err
	}
	done, err := call(ctx, "effect", j)
	if err != nil {
		return err
	}
	_ = done.Close()
	if err := work(ctx, j.After); err != nil {
		return err
	}
	return end(j.End)
}

// step is a part of the job that does not run again once it is recorded.
func step(ctx context.Context, j job) error {
	if !j.Stepped {
		return nil
	}
	return idem.Step(ctx, "prepare", func(ctx context.Context) error {
		answer, err := call(ctx, "step", j)
		if err != nil {
			return err
		}
		return answer.Close()
	})
}

func work(ctx context.Context, milliseconds int) error {
	select {
	case <-time.After(time.Duration(milliseconds) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func end(how string) error {
	switch how {
	case "":
		return nil
	case "exit":
		os.Exit(3)
	case "panic":
		panic("on purpose")
	case "hang":
		select {}
	case "refuse":
		return fault.Permanent(errors.New("never"))
	}
	return errors.New("what no rule knows")
}

var client = &http.Client{Transport: idem.Transport{}}

// call tells the provider what the job does, and in which process. The caller closes what
// is left of the answer.
func call(ctx context.Context, what string, j job) (io.Closer, error) {
	url := os.Getenv("CHAOS_PROVIDER") + "/" + what + "/" + j.ID
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Process", strconv.Itoa(os.Getpid()))
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if err := fault.CheckResponse(response); err != nil {
		return nil, errors.Join(err, response.Body.Close())
	}
	var answer struct {
		Done bool `json:"done"`
	}
	// Not wrapped: an answer that is no JSON is the provider's mistake, and no fault of
	// the payload, for which an error of JSON would pass.
	if json.NewDecoder(response.Body).Decode(&answer) != nil || !answer.Done {
		_ = response.Body.Close()
		return nil, fmt.Errorf("the provider's answer to %q makes no sense", what)
	}
	return response.Body, nil
}
