//go:build unix

// Command function is what the crash test runs behind the Runtime API: a
// function whose jobs call a provider and then end as they say.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/idem"
)

// job names the ends of what is done with it; none is a good one.
type job struct {
	ID         string `json:"id"`
	Decoding   string `json:"decoding"`
	Validating string `json:"validating"`
	Running    string `json:"running"`
	// Silent: it ends without a call of the provider.
	Silent bool `json:"silent"`
}

func main() {
	sqsafe.Start(run, sqsafe.KeyField("id"))
}

// UnmarshalJSON ends as the job says for decoding.
func (j *job) UnmarshalJSON(text []byte) error {
	type plain job
	if err := json.Unmarshal(text, (*plain)(j)); err != nil {
		return err
	}
	return end(context.Background(), j.Decoding)
}

// Validate ends as the job says for validating.
func (j *job) Validate() error { return end(context.Background(), j.Validating) }

func run(ctx context.Context, j job) error {
	if j.Silent {
		return end(ctx, j.Running)
	}
	if err := call(ctx, j); err != nil {
		return err
	}
	return end(ctx, j.Running)
}

// call takes effect at the provider, once for a key, and says in which process.
func call(ctx context.Context, j job) error {
	url := os.Getenv("CRASHPROOF_URL") + "/" + j.ID
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(nil))
	if err != nil {
		return err
	}
	request.Header.Set("Idempotency-Key", idem.Key(ctx))
	request.Header.Set("Process", strconv.Itoa(os.Getpid()))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusAccepted: // the provider wants it to hang
		select {}
	default:
		err = fmt.Errorf("the provider says %s", response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
