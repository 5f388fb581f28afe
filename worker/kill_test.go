package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/worker"
)

// names are n bodies with a letter in front.
func names(letter string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(letter, i)
	}
	return out
}

// seeds runs a scenario with some seeds, each of which has other jitter.
func seeds(t *testing.T, n uint64, scenario func(s *site)) {
	t.Helper()
	t.Parallel()
	for seed := range n {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { onSite(t, seed, scenario) })
	}
}

// lasting gives each job the time of its first letter.
func byLetter(times map[byte]time.Duration) func(body string) time.Duration {
	return func(body string) time.Duration { return times[body[0]] }
}

func TestTenLongJobsGoOnSideBySideAfterAKill(t *testing.T) {
	seeds(t, 5, func(s *site) {
		jobs := names("j", 10)
		s.put(jobs...)
		minute := taking(byLetter(map[byte]time.Duration{'j': time.Minute}))
		first := s.boot(worker.Options{}, 10, minute)
		after(25 * time.Second)
		first.kill()
		second := s.boot(worker.Options{}, 10, minute)
		if !s.await(5*time.Minute, jobs...) {
			s.t.Error("not all are done after five minutes")
		}
		begin, end := s.span(jobs)
		if begin < 80*time.Second || end-begin > 80*time.Second {
			s.t.Errorf("run from %s to %s, want it to begin when the leases have lapsed and to take up to 80s", begin, end)
		}
		second.stop()
		_, _ = second.result()
		s.noneDead()
	})
}

// makeSuspects sends jobs and kills two workers that run them: two claims without a
// result make a suspect.
func (s *site) makeSuspects(jobs []string) {
	s.put(jobs...)
	for n := range 2 {
		m := s.boot(worker.Options{}, 10, taking(byLetter(map[byte]time.Duration{'s': time.Hour})))
		for s.totalRuns(jobs) < (n+1)*len(jobs) {
			after(time.Second)
		}
		m.kill()
	}
}

// loneLimit is how long a suspect may keep others out that runs alone, and what it takes
// to begin and to give back.
const loneLimit = time.Minute + 10*time.Second

// A long job holds up neither suspects nor others, and suspects hold up no others.
func TestNobodyWaitsLong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		long        []string
		concurrency int
		suspect     time.Duration // how long each takes
		wait        time.Duration // the longest
	}{
		{"one at a time, a long job", []string{"long"}, 1, time.Second, time.Minute},
		{"ten at a time, a long job and long suspects", []string{"long"}, 10, time.Minute, time.Minute},
		{"one at a time, long suspects", nil, 1, time.Minute, loneLimit},
		{"ten at a time, long suspects", nil, 10, time.Minute, loneLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onSite(t, 1, func(s *site) {
				suspects, stream := names("s", 10), names("j", 150)
				if tt.long != nil {
					stream = names("j", 500)
				}
				s.makeSuspects(suspects)
				s.put(tt.long...)
				m := s.boot(worker.Options{}, tt.concurrency, taking(byLetter(map[byte]time.Duration{
					'l': 2 * time.Hour, 's': tt.suspect, 'j': time.Second,
				})))
				after(time.Second)
				for _, j := range stream {
					s.put(j)
					after(15 * time.Second)
					if live := probe(m.running, "/livez"); live != 200 {
						s.t.Errorf("livez %d when %s was sent", live, j)
					}
				}
				if !s.await(time.Hour, slices.Concat(tt.long, suspects, stream)...) {
					s.t.Error("not all are done an hour after the last was sent")
				}
				if wait := s.longestWait(stream); wait > tt.wait {
					s.t.Errorf("a job of a second waited %s, want at most %s", wait, tt.wait)
				}
				m.stop()
				_, _ = m.result()
				s.noneDead()
			})
		})
	}
}

// A long job takes one slot, and the others of its batch are free for others.
func TestLongJobsTakeNoMoreThanTheirSlots(t *testing.T) {
	seeds(t, 1, func(s *site) {
		stream := names("j", 40)
		for _, long := range []string{"l0", "l1"} { // one for each batch
			s.put(long)
			s.put(names("x"+long, 9)...)
		}
		m := s.boot(worker.Options{}, 10, taking(byLetter(map[byte]time.Duration{
			'l': 2 * time.Hour, 'x': time.Second, 'j': time.Second,
		})))
		after(time.Second)
		for _, j := range stream {
			s.put(j)
			after(15 * time.Second)
		}
		if wait := s.longestWait(stream); wait > time.Minute || !s.allDone(stream) {
			s.t.Errorf("a job of a second waited %s, all done %v; want at most a minute, and all done", wait, s.allDone(stream))
		}
		m.stop()
		_, _ = m.result()
	})
}

// Each receive that ends without a run brings a message nearer to the end that SQS has
// for it.
func TestABacklogOfLongJobsCostsNoReceives(t *testing.T) {
	seeds(t, 1, func(s *site) {
		jobs := names("j", 60)
		s.put(jobs...)
		m := s.boot(worker.Options{}, 1, taking(byLetter(map[byte]time.Duration{'j': 5 * time.Minute})))
		if !s.await(3*time.Hour, jobs...) {
			s.t.Error("not all are done after three hours, want two at a time")
		}
		m.stop()
		_, _ = m.result()
		journal, _ := s.seen()
		if again := matching(journal, " #3"); len(again) > 0 {
			s.t.Errorf("%q, want no message received more than twice", again)
		}
		s.noneDead()
	})
}

// The job pays no heed to its context, so that each drain leaves it behind in the middle.
func TestAJobThatDrainsCutOffIsDoneInTheEnd(t *testing.T) {
	heedless := func(m *machine) handler.Func {
		return func(_ context.Context, message *handler.Message) error {
			m.begin(message.Body)
			after(6 * time.Second)
			m.end(message.Body, true)
			return nil
		}
	}
	seeds(t, 3, func(s *site) {
		s.put("a")
		for drains := range 3 {
			m := s.boot(worker.Options{Drain: time.Second}, 1, heedless)
			for s.totalRuns([]string{"a"}) == drains {
				after(100 * time.Millisecond)
			}
			m.stop()
			if _, err := m.result(); !errors.Is(err, worker.ErrForced) {
				s.t.Errorf("ended with %v, want ErrForced", err)
			}
			m.kill() // the process is gone, and the goroutine of the job with it
		}
		m := s.boot(worker.Options{}, 1, heedless)
		if !s.await(5*time.Minute, "a") {
			s.t.Error("the job is not done")
		}
		after(time.Second)
		m.stop()
		_, _ = m.result()
		item := s.item("a")
		want := map[string]string{"status": "COMPLETED", "claims": "4", "settled": "4"}
		if diff := cmp.Diff(want, item); diff != "" {
			s.t.Errorf("ledger (-want +got):\n%s", diff)
		}
		s.noneDead()
	})
}

// A cut-off job is given back although the table is slow to say so.
func TestTheWorkerStaysUntilWhatItCutsOffIsWritten(t *testing.T) {
	seeds(t, 1, func(s *site) {
		s.put("a")
		m := s.boot(worker.Options{Drain: time.Second}, 1, taking(byLetter(map[byte]time.Duration{'a': time.Hour})))
		after(time.Second)
		s.server.Inject(localaws.Fault{Operation: "UpdateItem", Delay: 3 * time.Second})
		m.stop()
		if ended, err := m.result(); !errors.Is(err, worker.ErrForced) || ended != 5*time.Second {
			s.t.Errorf("ended with %v after %s, want ErrForced when the write is answered", err, ended)
		}
		want := map[string]string{"status": "INPROGRESS", "claims": "1", "settled": "1"}
		if diff := cmp.Diff(want, s.item("a")); diff != "" {
			s.t.Errorf("ledger (-want +got):\n%s", diff)
		}
	})
}

// What hangs does not hold the worker for longer than its limit.
func TestTheWorkerLeavesWhatHangs(t *testing.T) {
	seeds(t, 1, func(s *site) {
		s.put("a")
		m := s.boot(worker.Options{Drain: time.Second}, 1, taking(byLetter(map[byte]time.Duration{'a': time.Hour})))
		after(time.Second)
		s.server.Inject(localaws.Fault{Delay: time.Hour})
		m.stop()
		ended, err := m.result()
		if !errors.Is(err, worker.ErrForced) || ended > 13*time.Second {
			s.t.Errorf("ended with %v after %s, want ErrForced within 11s of the end of the drain", err, ended)
		}
		m.kill()
	})
}

// Machines are taken away and told to stop, one a minute, in the middle of jobs of up to
// two minutes. A job is dead only if four claims on it ended with their process, and at
// least the last two in its middle: it may have waited for its slot at the others.
func TestNoJobDiesOfFewKills(t *testing.T) {
	seeds(t, 2, func(s *site) {
		jobs := names("j", 60)
		lasts := map[string]time.Duration{}
		for _, j := range jobs {
			lasts[j] = time.Duration(s.random() * float64(2*time.Minute))
		}
		boot := func() *machine {
			takes := func(body string) time.Duration { return lasts[body] }
			return s.boot(worker.Options{Drain: 5 * time.Second}, 4, taking(takes))
		}
		s.put(jobs...)
		fleet := []*machine{boot(), boot(), boot()}
		for range 30 {
			after(time.Duration(s.random() * float64(2*time.Minute)))
			i := int(s.random() * float64(len(fleet)))
			if s.random() < 0.5 {
				fleet[i].stop()
				_, _ = fleet[i].result()
			}
			fleet[i].kill()
			fleet[i] = boot()
		}
		s.await(4*time.Hour, jobs...)
		for _, m := range fleet {
			m.stop()
			_, _ = m.result()
		}
		dead := s.dead()
		for body, why := range dead {
			if s.killed[body] < 2 {
				s.t.Errorf("%s was killed %d times and is dead: %s", body, s.killed[body], why)
			}
		}
		if n := len(jobs) - len(dead); len(s.done) != n {
			s.t.Errorf("%d jobs done after four quiet hours, want %d", len(s.done), n)
		}
	})
}
