package cli_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sqsafe/sqsafe/internal/cli"
)

// Scripts read one line, also if two things went wrong.
func TestAnErrorIsOneLine(t *testing.T) {
	t.Parallel()
	errs := &bytes.Buffer{}
	code := cli.Exit(errors.Join(errors.New("one was not sent"), errors.New("no audit line")), cli.Streams{Err: errs})
	if code != cli.ExitFailed || errs.String() != "sqsafe: one was not sent; no audit line\n" {
		t.Errorf("exit code %d, %q", code, errs)
	}
}
