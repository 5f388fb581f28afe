//go:build unix

// Command function is what the parity test runs on each host: a Lambda function
// or, where the environment names a queue to poll, a worker. What a job does is
// up to the provider that it calls, by the number of the call.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/worker"
)

type job struct {
	ID string `json:"id"`
	// Do is what the job does in its first run, its second, and so on.
	Do []string `json:"do"`
}

func main() {
	key := sqsafe.KeyField("id")
	answer := os.Getenv("PARITY_ANSWER")
	switch {
	case os.Getenv("SQSAFE_QUEUE_URL") != "":
		worker.Start(run, key)
	case answer != "":
		p, err := sqsafe.NewProcessor(run, key)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		lambda.Start(instead{p.Handle, answer})
	default:
		sqsafe.Start(run, key)
	}
}

// instead runs batches, but answers with something else.
type instead struct {
	handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)
	answer string
}

// Invoke makes it a [lambda.Handler], whose answers need not be JSON.
func (i instead) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var batch events.SQSEvent
	if err := json.Unmarshal(payload, &batch); err != nil {
		return nil, err
	}
	_, err := i.handle(ctx, batch)
	return []byte(i.answer), err
}

func run(ctx context.Context, j job) error {
	action, err := call(ctx, j)
	if err != nil {
		return err
	}
	switch action {
	case "retry":
		return fault.Retryable(errors.New("not yet"))
	case "permanent":
		return fault.Permanent(errors.New("never"))
	case "odd":
		return errors.New("what no rule knows")
	case "panic":
		panic("on purpose")
	case "exit":
		os.Exit(3)
	case "wait": // for as long as it is allowed to
		<-ctx.Done()
		return ctx.Err()
	case "hang":
		select {}
	case "freeze": // the whole process, until it is killed
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return err
		}
		select {} // other threads stop a moment later
	}
	return nil
}

// call takes effect at the provider, once for a key, and brings the action.
func call(ctx context.Context, j job) (action string, err error) {
	body, err := json.Marshal(j)
	if err != nil {
		return "", err
	}
	url := os.Getenv("PARITY_URL")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		return "", err
	}
	request.Header.Set("Idempotency-Key", idem.Key(ctx))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
