//go:build unix

// Command function runs behind the Runtime API in the crash test: its jobs call
// a provider and then end as their payload says.
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

// job says how each of its stages ends; an empty value means without an error.
type job struct {
	ID         string `json:"id"`
	Decoding   string `json:"decoding"`
	Validating string `json:"validating"`
	Running    string `json:"running"`
}

func main() {
	sqsafe.Start(run, sqsafe.KeyField("id"))
}

// UnmarshalJSON decodes the job and then ends as Decoding says.
func (j *job) UnmarshalJSON(text []byte) error {
	type plain job
	if err := json.Unmarshal(text, (*plain)(j)); err != nil {
		return err
	}
	return end(context.Background(), j.Decoding)
}

// Validate ends as Validating says.
func (j *job) Validate() error { return end(context.Background(), j.Validating) }

func run(ctx context.Context, j job) error {
	if err := call(ctx, j); err != nil {
		return err
	}
	return end(ctx, j.Running)
}

// call calls the provider, where it takes effect once for a key, and names the
// process.
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
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("the provider says %s", response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
