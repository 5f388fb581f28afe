package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestWordsAreCompleted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"l":                            "local ledger",
		"ver":                          "version",
		"ledger g":                     "get",
		"ledger --table x l":           "list",
		"local --until-idle --tim":     "--timeout",
		"template --alarms ":           "basic full none",
		"template --alarms b":          "basic",
		"completion ":                  "bash zsh fish",
		"send orders --j":              "--jsonl --json",
		"nothing":                      "",
		"dlq list orders --endpoint-d": "--endpoint-dynamodb",
	} {
		var out bytes.Buffer
		words := strings.Split(line, " ")
		code := Run(context.Background(), append([]string{completeCommand}, words...), Streams{Out: &out, Err: &out})
		if got := strings.Join(strings.Fields(out.String()), " "); got != want || code != ExitOK {
			t.Errorf("%q becomes %q with exit code %d, want %q", line, got, code, want)
		}
	}
}

// fullDisk fails after some bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return 0, errFull
	}
	d.room -= len(p)
	return len(p), nil
}

func TestAnOutputThatIsNotWrittenIsAnError(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"--help"}, {"ledger", "list", "--help"}, {"completion", "bash"}} {
		var errs bytes.Buffer
		code := Run(context.Background(), args, Streams{Out: &fullDisk{room: 5}, Err: &errs})
		if code != ExitFailed || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: exit code %d, %s", args, code, &errs)
		}
		if code := Run(context.Background(), args, Streams{Out: &fullDisk{room: 1 << 20}, Err: &errs}); code != ExitOK {
			t.Errorf("%v: exit code %d with room", args, code)
		}
	}
}
