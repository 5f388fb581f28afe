package handlertest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

// hangs is set in the process in which a handler may hang: its test cannot end well.
const hangs = "SQSAFE_TEST_HANG"

func TestAHandlerThatNeverReturnsIsNamed(t *testing.T) {
	t.Parallel()
	never := handler.Func(func(_ context.Context, m *handler.Message) error {
		if m.Body == "never" {
			select {}
		}
		return nil
	})
	if most := os.Getenv(hangs); most != "" {
		options := handler.Options{Logger: quiet()}
		if most == "once" {
			options.MaxReceives = 1
		}
		handlertest.Queue{Handler: never, Options: options}.
			Run(t, handlertest.Message{}, handlertest.Message{Body: "never"})
		return
	}
	for _, most := range []string{"once", "unbounded"} {
		t.Run(most, func(t *testing.T) {
			t.Parallel()
			again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAHandlerThatNeverReturnsIsNamed$")
			again.Env = append(os.Environ(), hangs+"="+most)
			out, err := again.CombinedOutput()
			const want = "job m2 did not return from its handler in 24h0m0s"
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("error %v, want a failure that says %q:\n%s", err, want, out[:min(len(out), 2000)])
			}
		})
	}
}
