package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/worker"
)

// matching gives the lines that contain text.
func matching(lines []string, text string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.Contains(line, text) })
}

func TestHeartbeatKeepsALongJobHidden(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		r := w.start(worker.Options{Batches: 2}, lasting(10*time.Minute))
		after(11 * time.Minute)
		r.stop()
		if _, err := r.result(); err != nil {
			t.Error(err)
		}
		journal, outcomes := w.seen()
		if !cmp.Equal(outcomes, []string{"a done 1"}) {
			t.Errorf("outcomes %q, want one run", outcomes)
		}
		if got := matching(journal, "received"); len(got) != 1 {
			t.Errorf("receives %q, want one", got)
		}
		if last := journal[len(journal)-1]; last != "10m0s deleted a" {
			t.Errorf("last %q, want that nothing follows the delete", last)
		}
	})
}

func TestHeartbeatSurvivesAFailedBeat(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		w.server.Inject(localaws.Fault{Operation: "ChangeMessageVisibilityBatch", Times: 1, Code: "AccessDenied"})
		r := w.start(worker.Options{Batches: 2}, lasting(45*time.Second))
		after(time.Minute)
		r.stop()
		_, _ = r.result()
		w.check([]string{
			"0s received a #1", "20s visibility a 30s", "30s visibility a 30s", "40s visibility a 30s", "45s deleted a",
		}, []string{"a done 1"})
		if n := w.count("visibility timeout not extended"); n != 1 {
			t.Errorf("%d warnings, want one", n)
		}
	})
}

// The beat at 10 s takes until 12 s; the job fails in between.
func TestHeartbeatNeverOverwritesABackoff(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		w.server.Inject(localaws.Fault{Operation: "ChangeMessageVisibilityBatch", Times: 1, Delay: 2 * time.Second})
		first := true
		r := w.start(worker.Options{}, func(context.Context, *handler.Message) error {
			if !first {
				return nil
			}
			first = false
			after(11 * time.Second)
			return fault.Retryable(errors.New("later"))
		})
		after(20 * time.Second)
		r.stop()
		_, _ = r.result()
		w.check([]string{
			"0s received a #1", "12s visibility a 30s", "12s visibility a 4s", "16s received a #2", "16s deleted a",
		}, []string{"a retry tagged 1", "a done 2"})
	})
}

func TestHeartbeatEndsWhereSQSHidesNoLonger(t *testing.T) {
	bubble(t, "jobs", "7200", func(w *world) {
		w.send("a")
		r := w.start(worker.Options{}, lasting(13*time.Hour))
		after(12*time.Hour + time.Minute)
		journal, _ := w.seen()
		if last := journal[len(journal)-1]; last != "11h20m0s visibility a 39m55s" {
			t.Errorf("last %q, want an end just before 12 hours", last)
		}
		after(59 * time.Minute)
		if n := w.count("visibility timeout not extended"); n > 0 {
			t.Errorf("%d refused beats, want none", n)
		}
		r.stop()
		_, _ = r.result()
	})
}

func TestHeartbeatGivesUpAMessageThatIsGone(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		r := w.start(worker.Options{}, lasting(2*time.Minute))
		after(5 * time.Second)
		if _, err := w.client.PurgeQueue(w.t.Context(), &sqs.PurgeQueueInput{QueueUrl: &w.url}); err != nil {
			t.Fatal(err)
		}
		after(2 * time.Minute)
		r.stop()
		_, _ = r.result()
		if n := w.count("visibility timeout not extended"); n != 1 {
			t.Errorf("%d warnings, want one", n)
		}
	})
}

// An event has at most 6 MB, so ten large messages are two batches, the second
// of which waits for the first.
func TestHeartbeatHoldsWhatWaitsForItsBatch(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		for i := range 10 {
			w.send(fmt.Sprint("m", i, strings.Repeat(".", 900<<10)))
		}
		r := w.start(worker.Options{Batches: 2}, lasting(10*time.Second))
		after(2 * time.Minute)
		r.stop()
		_, _ = r.result()
		journal, _ := w.seen()
		if got := matching(journal, "received"); len(got) != 10 {
			t.Errorf("receives %q, want ten", got)
		}
		if got := matching(journal, "deleted"); len(got) != 10 {
			t.Errorf("deletes %q, want ten", got)
		}
	})
}

func TestNoBeatComesWhileABatchIsDeleted(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		w.server.Inject(localaws.Fault{Operation: "DeleteMessageBatch", Times: 1, Delay: 12 * time.Second})
		r := w.start(worker.Options{}, lasting(time.Second))
		after(15 * time.Second)
		r.stop()
		_, _ = r.result()
		w.check([]string{"0s received a #1", "13s deleted a"}, []string{"a done 1"})
	})
}

// What follows a failed part of a FIFO batch is not run, and must not be kept.
func TestHeartbeatLetsGoOfWhatIsWithheld(t *testing.T) {
	bubble(t, "jobs.fifo", "30", func(w *world) {
		for i := range 10 {
			w.send(fmt.Sprint("m", i, strings.Repeat(".", 900<<10)))
		}
		r := w.start(worker.Options{}, func(_ context.Context, m *handler.Message) error {
			if m.Attributes["ApproximateReceiveCount"] != "1" {
				return nil
			}
			return fault.Retryable(errors.New("later"))
		})
		after(31 * time.Second)
		r.stop()
		_, _ = r.result()
		journal, _ := w.seen()
		if got := matching(journal, "m9"); len(got) < 2 || got[1] != "30s received m9 #2" {
			t.Errorf("m9: %q, want it back when its visibility timeout ends", got)
		}
	})
}
