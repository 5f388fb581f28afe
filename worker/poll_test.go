package worker_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/worker"
)

func probe(r *running, path string) int {
	answer := httptest.NewRecorder()
	r.Health().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return answer.Code
}

func TestFailedReceivesBackOff(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		w.server.Inject(localaws.Fault{Operation: "ReceiveMessage", Times: 3, Code: "AccessDenied"})
		r := w.start(worker.Options{}, lasting(0))
		after(6 * time.Second)
		if live, ready := probe(r, "/livez"), probe(r, "/readyz"); live != 200 || ready != 503 {
			t.Errorf("livez %d, readyz %d while SQS refuses, want 200 and 503", live, ready)
		}
		after(6 * time.Second)
		if ready := probe(r, "/readyz"); ready != 200 {
			t.Errorf("readyz %d after a receive, want 200", ready)
		}
		r.stop()
		_, _ = r.result()
		w.check([]string{"7s received a #1", "7s deleted a"}, []string{"a done 1"})
		if n := w.count("receive failed"); n != 3 {
			t.Errorf("%d failures logged, want 3", n)
		}
	})
}

func TestProbesTellOfDraining(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		r := w.start(worker.Options{}, lasting(10*time.Minute))
		after(5 * time.Minute)
		if live, ready := probe(r, "/livez"), probe(r, "/readyz"); live != 200 || ready != 200 {
			t.Errorf("livez %d, readyz %d in a long batch, want 200 and 200", live, ready)
		}
		r.stop()
		after(10 * time.Second)
		if live, ready := probe(r, "/livez"), probe(r, "/readyz"); live != 200 || ready != 503 {
			t.Errorf("livez %d, readyz %d while draining, want 200 and 503", live, ready)
		}
		_, _ = r.result()
	})
}

// A receive that is never answered is given up, and the loop goes on.
func TestDeadConnectionDoesNotHoldALoop(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("a")
		w.server.Inject(localaws.Fault{Operation: "ReceiveMessage", Times: 1, Delay: time.Hour})
		r := w.start(worker.Options{}, lasting(0))
		after(time.Minute)
		if live := probe(r, "/livez"); live != 200 {
			t.Errorf("livez %d, want 200", live)
		}
		r.stop()
		_, _ = r.result()
		w.check([]string{"31s received a #1", "31s deleted a"}, []string{"a done 1"})
	})
}

func TestFIFOGroupsKeepTheirOrder(t *testing.T) {
	bubble(t, "jobs.fifo", "30", func(w *world) {
		w.send("a1", "b1", "a2")
		failed := false
		r := w.start(worker.Options{Batches: 2}, func(_ context.Context, m *handler.Message) error {
			if m.Body == "a1" && !failed {
				failed = true
				return fault.Retryable(errors.New("later"))
			}
			return nil
		})
		after(10 * time.Second)
		r.stop()
		_, _ = r.result()
		_, outcomes := w.seen()
		want := map[string][]string{
			"a": {"a1 retry tagged 1", "a2 deferred group_head", "a1 done 2", "a2 done 1"}, "b": {"b1 done 1"},
		}
		got := map[string][]string{}
		for _, line := range outcomes {
			got[line[:1]] = append(got[line[:1]], line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outcomes by group (-want +got):\n%s", diff)
		}
	})
}

// Of a message group one message runs at a time. What waits behind it keeps no slot from
// other groups, however long it runs.
func TestMessagesBehindALongJobOfTheirGroupKeepNoSlots(t *testing.T) {
	bubble(t, "jobs.fifo", "30", func(w *world) {
		w.concurrency = 10
		w.send(names("a", 10)...)
		takes := byLetter(map[byte]time.Duration{'a': time.Hour, 'b': time.Second})
		r := w.start(worker.Options{Batches: 1}, func(ctx context.Context, m *handler.Message) error {
			return lasting(takes(m.Body))(ctx, m)
		})
		after(time.Second)
		w.send("b1")
		after(time.Minute)
		_, outcomes := w.seen()
		if diff := cmp.Diff([]string{"b1 done 1"}, outcomes); diff != "" {
			t.Errorf("outcomes within a minute (-want +got):\n%s", diff)
		}
		r.stop()
		_, _ = r.result()
	})
}

func TestBatchesRunSideBySide(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		r := w.start(worker.Options{Batches: 3}, lasting(10*time.Second))
		for _, body := range []string{"a", "b", "c"} {
			w.send(body)
			after(time.Second)
		}
		after(11 * time.Second)
		r.stop()
		_, _ = r.result()
		journal, _ := w.seen()
		want := []string{"10s deleted a", "11s deleted b", "12s deleted c"}
		if diff := cmp.Diff(want, matching(journal, "deleted")); diff != "" {
			t.Errorf("deletes (-want +got):\n%s", diff)
		}
	})
}

func TestRunRefusesAQueueThatCannotBePolled(t *testing.T) {
	t.Parallel()
	t.Run("hidden for no time", func(t *testing.T) {
		bubble(t, "jobs", "0", func(w *world) {
			_, err := w.start(worker.Options{}, lasting(0)).result()
			if worker.ExitCode(err) != 1 || !strings.Contains(err.Error(), `a visibility timeout of "0" s`) {
				t.Errorf("error %v, want one about the visibility timeout", err)
			}
		})
	})
	t.Run("missing", func(t *testing.T) {
		bubble(t, "jobs", "30", func(w *world) {
			w.url += "-2"
			_, err := w.start(worker.Options{}, lasting(0)).result()
			if worker.ExitCode(err) != 1 || !strings.Contains(err.Error(), w.url) {
				t.Errorf("error %v, want one that names %s", err, w.url)
			}
		})
	})
	t.Run("told to stop before", func(t *testing.T) {
		bubble(t, "jobs", "30", func(w *world) {
			w.server.Inject(localaws.Fault{Operation: "GetQueueAttributes", Delay: time.Minute})
			r := w.start(worker.Options{}, lasting(0))
			after(time.Second)
			r.stop()
			if ended, err := r.result(); err != nil || ended != time.Second {
				t.Errorf("ended with %v after %v, want a clean end after 1s", err, ended)
			}
		})
	})
}
