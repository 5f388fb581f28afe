package handlertest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

// failing is a test whose failure is read instead of reported.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}

func (f *failing) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

func (f *failing) Fatalf(form string, args ...any) {
	f.message = fmt.Sprintf(form, args...)
	runtime.Goexit()
}

// failure is the first line of what the check says; empty if it passes.
func failure(check func(f *failing)) string {
	f := &failing{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(f)
	}()
	<-done
	line, _, _ := strings.Cut(f.message, "\n")
	return line
}

func TestChecksSayWhatTheyHaveFound(t *testing.T) {
	t.Parallel()
	q := bare()
	q.Options.MaxReceives = 4
	r := q.Run(t, bodies("retry ok", "bad")...)
	moved := q.Run(t, bodies("kill")...)
	tests := map[string]struct {
		check func(f *failing)
		want  string
	}{
		"outcomes": {
			func(f *failing) { r.RequireOutcomes(f, "m2", handler.OutcomeRetry) },
			"m2 ended as dead; want retry",
		},
		"outcomes, none wanted": {
			func(f *failing) { r.RequireOutcomes(f, "m2") }, "m2 ended as dead; want none",
		},
		"outcomes, as wanted": {
			func(f *failing) {
				r.RequireOutcomes(f, "m1", handler.OutcomeRetry, handler.OutcomeNone, handler.OutcomeDone)
			},
			"m1 ended as retry, done; want retry, none, done",
		},
		"reason": {
			func(f *failing) { r.RequireReason(f, "m2", "timeout") }, "m2 has no_user as its last reason; want timeout",
		},
		"reason of the last": {
			func(f *failing) { r.RequireReason(f, "m1", "busy") }, "m1 has none as its last reason; want busy",
		},
		"delay": {
			func(f *failing) { r.RequireDelay(f, "m1", 1, 2*time.Second, 3*time.Second) },
			"m1 comes back 1s after delivery 1; want 2s to 3s",
		},
		"delay, in range": {func(f *failing) { r.RequireDelay(f, "m1", 1, time.Second, time.Second) }, ""},
		"delay of no delivery": {
			func(f *failing) { r.RequireDelay(f, "m1", 9, 0, 0) }, "m1 has no delivery 9; it was delivered 2 times",
		},
		"runs":       {func(f *failing) { r.RequireRuns(f, "m1", 1) }, "m1 ran 2 times; want 1"},
		"runs, fits": {func(f *failing) { r.RequireRuns(f, "m1", 2) }, ""},
		"order": {
			func(f *failing) { moved.RequireRunOrder(f, "m1", "m2") }, "the handler ran for m1, m1, m1, m1; want m1, m2",
		},
		"dead letter": {func(f *failing) { r.RequireDeadLetter(f, "m2", "no_user") }, ""},
		"dead letter, other reason": {
			func(f *failing) { r.RequireDeadLetter(f, "m2", "decode") },
			"m2 was dead-lettered for no_user; want that for decode",
		},
		"no dead letter": {
			func(f *failing) { r.RequireDeadLetter(f, "m1", "decode") }, "m1 was not dead-lettered; want that for decode",
		},
		"no dead letters, but one": {
			func(f *failing) { r.RequireNoDeadLetters(f) }, "m2 was dead-lettered for no_user; want no dead letters",
		},
		"no dead letters, but one of SQS": {
			func(f *failing) { moved.RequireNoDeadLetters(f) }, "m1 was dead-lettered by SQS; want no dead letters",
		},
		"no such message": {
			func(f *failing) { moved.RequireRuns(f, "m7", 1) },
			`no message has the id "m7"; those of the report are m1`,
		},
		"no handler": {
			func(f *failing) { handlertest.Queue{}.Invoke(f) },
			"handlertest.Queue: Handler is nil; set it to the function to test, such as handler.JSON(charge)",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := failure(tt.check); got != tt.want {
				t.Errorf("the check says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAFailureShowsTheStory(t *testing.T) {
	t.Parallel()
	f := &failing{}
	done := make(chan struct{})
	r := bare().Run(t, bodies("retry ok")...)
	go func() {
		defer close(done)
		r.RequireRuns(f, "m1", 3)
	}()
	<-done
	want := "m1 ran 2 times; want 3\n" +
		"m1 at 0s, receive 1: retry (busy), back in 1s: provider is busy\nm1 at 1s, receive 2: done\n"
	if f.message != want {
		t.Errorf("message is\n%s\nwant\n%s", f.message, want)
	}
}
