package replay_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// tracked replays all letters with that body, lets the function work, and follows the jobs.
func tracked(t *testing.T, s *letterstest.Stack, body *string, limit time.Duration) []*replay.Followed {
	t.Helper()
	o := newOperator(t, s, t.TempDir(), true)
	tracker := &replay.Tracker{Table: o.Table, Queue: o.Queue}
	o.Options.Observe, o.Body = tracker.Observe, body
	o.mustReplay()
	s.Work()
	if err := tracker.Wait(t.Context(), limit, func(replay.Outcomes) {}); err != nil {
		t.Fatal(err)
	}
	return tracker.Jobs()
}

// A job that died before it had a key is followed by the id of its message.
func TestJobsWithoutAKeyAreFollowed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		buried, edited string
		outcome        replay.Outcome
		job, reason    string
	}{
		"given a key":  {`{"do":"nothing"}`, `{"id":"new","do":"nothing"}`, replay.OutcomeDone, "orders#new", ""},
		"no key again": {`{"do":"nothing"}`, `{"do":"less"}`, replay.OutcomeDeadAgain, "", "permanent missing_key"},
		"a key, and it dies": {
			`{"do":"x"}`, `{"id":"new","do":"declined"}`, replay.OutcomeDeadAgain, "orders#new", "permanent rejected",
		},
		"another key":  {`{"id":"old","do":"declined"}`, `{"id":"new","do":"x"}`, replay.OutcomeDone, "orders#new", ""},
		"the same key": {`{"id":"old","do":"declined"}`, `{"id":"old","do":"x"}`, replay.OutcomeDone, "orders#old", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := letterstest.New(t, "orders")
				s.Bury(tt.buried, "")
				jobs := tracked(t, s, &tt.edited, time.Minute)
				if len(jobs) != 1 {
					t.Fatalf("%d jobs", len(jobs))
				}
				f := jobs[0]
				if f.Outcome != tt.outcome || f.JobID() != tt.job || f.Reason != tt.reason {
					t.Errorf("%s of job %q (%s), want %s of %q (%s)", f.Outcome, f.JobID(), f.Reason, tt.outcome, tt.job, tt.reason)
				}
				dead := 0
				if tt.outcome == replay.OutcomeDeadAgain {
					dead = 1
				}
				if c := count(t, s, s.DeadURL); c.Visible != dead || c.InFlight != 0 {
					t.Errorf("the look has left %+v", c)
				}
			})
		})
	}
}

// A letter that nobody takes has not ended when the time is over.
func TestTrackingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "orders", 1, noGroup)
		s.Mended = true
		o := newOperator(t, s, t.TempDir(), true)
		tracker := &replay.Tracker{Table: o.Table}
		o.Options.Observe = tracker.Observe
		o.mustReplay()
		start, looks := time.Now(), 0
		if err := tracker.Wait(t.Context(), time.Minute, func(replay.Outcomes) { looks++ }); err != nil {
			t.Fatal(err)
		}
		if n := tracker.Outcomes(); n != (replay.Outcomes{Pending: 1}) || looks < 10 || time.Since(start) > 2*time.Minute {
			t.Errorf("%+v after %d looks and %s", n, looks, time.Since(start))
		}
	})
}

func TestCheckEdit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, after, says string }{
		"JSON":                {`{"a":1}`, `{"a":2}`, ""},
		"text":                {"a", "b", ""},
		"text to JSON":        {"a", "{}", ""},
		"unchanged":           {"a", "a", "nothing was changed"},
		"empty":               {"a", "", "empty"},
		"no JSON":             {`{"a":1}`, "{\n\"a\":}", "no JSON any more: line 2"},
		"cut JSON":            {`{"a":1}`, "{\n\"a\":1", "no JSON any more: line 2"},
		"no UTF-8":            {"a", "\xff", "no text in UTF-8"},
		"a control character": {"a", "b\n\x01", "line 2 of the edited payload has the character U+0001"},
		"a noncharacter":      {"a", "\uffff", "U+FFFF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := replay.CheckEdit(tt.before, tt.after)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if errors.Is(err, replay.ErrUnchanged) != (tt.before == tt.after) {
				t.Errorf("%v", err)
			}
		})
	}
}
