package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/worker"
)

func (w *world) check(wantJournal, wantOutcomes []string) {
	w.t.Helper()
	journal, outcomes := w.seen()
	if diff := cmp.Diff(wantJournal, journal); diff != "" {
		w.t.Errorf("what happened in the queue (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantOutcomes, outcomes); diff != "" {
		w.t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// Which of three first deliveries runs is a matter of whose claim is answered first.
func TestDrainFinishesWhatRunsAndReleasesTheRest(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a", "b", "c")
		nineSeconds := lasting(9 * time.Second)
		r := w.start(worker.Options{}, nineSeconds)
		after(4 * time.Second)
		r.stop()
		if ended, err := r.result(); err != nil || ended != 9*time.Second {
			t.Errorf("ended with %v after %v, want a clean end after 9s", err, ended)
		}
		journal, outcomes := w.seen()
		if hidden, deleted := matching(journal, "4s visibility"), matching(journal, "9s deleted"); len(hidden) != 2 ||
			len(deleted) != 1 {
			t.Errorf("%q, want two messages given back at once, and one deleted when it is done", journal)
		}
		given, done := matching(outcomes, "deferred cancelled"), matching(outcomes, "done 1")
		if len(given) != 2 || len(done) != 1 {
			t.Errorf("outcomes %q, want one job done and two given back", outcomes)
		}

		r = w.start(worker.Options{}, nineSeconds)
		after(25 * time.Second)
		r.stop()
		if _, err := r.result(); err != nil {
			t.Error(err)
		}
		if _, outcomes := w.seen(); len(matching(outcomes, "done 1")) != 2 || len(outcomes) != 2 {
			t.Errorf("outcomes %q, want that the next worker makes the first attempts", outcomes)
		}
	})
}

func TestWhatStillRunsAtTheLimitIsCutOffAndReleased(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		r := w.start(worker.Options{}, lasting(time.Minute))
		after(time.Second)
		r.stop()
		if ended, err := r.result(); !errors.Is(err, worker.ErrForced) || ended != 16*time.Second {
			t.Errorf("ended with %v after %v, want ErrForced after 16s", err, ended)
		}
		w.check([]string{
			"0s received a #1", "10s visibility a 30s", "16s visibility a 1s",
		}, []string{"a deferred cancelled"})
	})
}

func TestAJobIsNoWorseForBeingAbortedOften(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		for range 20 { // past half of its receives it stays away for up to 15 minutes
			r := w.start(worker.Options{Drain: time.Second}, lasting(time.Hour))
			after(20 * time.Minute)
			r.stop()
			if _, err := r.result(); !errors.Is(err, worker.ErrForced) {
				t.Fatalf("ended with %v, want ErrForced", err)
			}
		}
		w.seen()
		r := w.start(worker.Options{}, func(context.Context, *handler.Message) error { return errors.New("once") })
		after(20 * time.Minute)
		r.stop()
		_, _ = r.result()
		if _, outcomes := w.seen(); len(outcomes) == 0 || outcomes[0] != "a retry unclassified 1" {
			t.Errorf("outcomes %q, want the first failure to be the first attempt", outcomes)
		}
	})
}

func TestAJobThatIgnoresItsCancellationIsLeftBehind(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		r := w.start(worker.Options{Drain: 5 * time.Second}, func(context.Context, *handler.Message) error {
			after(time.Minute)
			return nil
		})
		after(time.Second)
		r.stop()
		if ended, err := r.result(); !errors.Is(err, worker.ErrForced) || ended != 7*time.Second {
			t.Errorf("ended with %v after %v, want ErrForced a second after the limit", err, ended)
		}
		if n := w.count("batches not settled in time"); n > 0 {
			t.Error("a batch is called unsettled although its claim was given back")
		}
		after(2 * time.Minute) // in a process it would be gone by now
	})
}

func TestReceiveUnderWayBringsItsMessagesBack(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		w.server.Inject(localaws.Fault{Operation: "ReceiveMessage", Times: 1, Delay: 400 * time.Millisecond})
		r := w.start(worker.Options{}, func(context.Context, *handler.Message) error {
			t.Error("a job was started while draining")
			return nil
		})
		after(100 * time.Millisecond)
		r.stop()
		if ended, err := r.result(); err != nil || ended != 400*time.Millisecond {
			t.Errorf("ended with %v after %v, want a clean end after 400ms", err, ended)
		}
		w.check([]string{"400ms received a #1", "400ms visibility a 1s"}, []string{"a deferred cancelled"})
	})
}

func TestIdleWorkerEndsWithinASecond(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		r := w.start(worker.Options{Batches: 3}, func(context.Context, *handler.Message) error { return nil })
		after(5 * time.Second)
		r.stop()
		if ended, err := r.result(); err != nil || ended > 6*time.Second {
			t.Errorf("ended with %v after %v, want a clean end within a second", err, ended)
		}
	})
}
