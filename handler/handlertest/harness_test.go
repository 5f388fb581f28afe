package handlertest_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

var errBusy = fault.Retryable(errors.New("provider is busy"), fault.WithReason("busy"))

// obey does what the words of a body say: the first at the first receive, and so
// on, and the last at all later ones.
func obey(ctx context.Context, m *handler.Message) error {
	words := strings.Fields(m.Body)
	if len(words) == 0 {
		return nil
	}
	switch words[min(m.ReceiveCount(), len(words))-1] {
	case "retry":
		return errBusy
	case "bad":
		return fault.Permanent(errors.New("no such user"), fault.WithReason("no_user"))
	case "panic":
		panic("boom")
	case "kill":
		handlertest.Kill(ctx)
	case "short":
		<-time.After(2 * time.Second)
	case "slow-retry":
		<-time.After(10 * time.Second)
		return errBusy
	case "slow":
		<-time.After(10 * time.Second)
	case "stuck":
		<-time.After(time.Hour)
	case "cancelled":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// protected is a queue with the handler obey behind a ledger of its own.
func protected() handlertest.Queue {
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Logger: quiet()})
	if err != nil {
		panic(err)
	}
	return handlertest.Queue{Handler: handler.Func(obey), Options: handler.Options{Ledger: ledger, Logger: quiet()}}
}

// bare is a queue with the handler obey and no ledger.
func bare() handlertest.Queue {
	return handlertest.Queue{Handler: handler.Func(obey), Options: handler.Options{Logger: quiet()}}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// bodies makes a message of each.
func bodies(bodies ...string) []handlertest.Message {
	messages := make([]handlertest.Message, len(bodies))
	for i, body := range bodies {
		messages[i].Body = body
	}
	return messages
}

// wantStory compares the report with lines of text.
func wantStory(t *testing.T, r *handlertest.RunReport, want ...string) {
	t.Helper()
	got := strings.Split(strings.TrimSpace(r.String()), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}
