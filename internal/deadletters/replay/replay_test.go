package replay_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

func TestReplayRunsDeadJobsAgainInTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		var want []string
		for i := range 25 {
			s.Bury(job(i), "")
			want = append(want, job(i))
			<-time.After(time.Second)
		}
		o := newOperator(t, s, t.TempDir(), true)
		pass, err := o.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tally := pass.Plan.Tally()
		if tally != (replay.Tally{Letters: 25, Runs: 25, Final: 25}) {
			t.Errorf("tally %+v", tally)
		}
		sum, err := o.Execute(t.Context(), pass)
		if err != nil || sum != (replay.Summary{Sent: 25}) || sum.Failed() {
			t.Errorf("summary %+v, %v", sum, err)
		}
		if c := count(t, s, s.DeadURL); c.Total() != 0 {
			t.Errorf("left %+v", c)
		}
		if diff := cmp.Diff(want, bodies(s, s.SourceURL)); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestReplayedJobsRunOnce(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"orders", "stock.fifo"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := buried(t, source, 30, twoGroups)
				for round := 1; round <= 2; round++ { // dead, replayed, and dead again within five minutes
					if sum := newOperator(t, s, t.TempDir(), true).mustReplay(); sum.Sent != 30 {
						t.Fatalf("round %d: %+v", round, sum)
					}
					s.Work()
					if c := count(t, s, s.DeadURL); c.Total() != 30 {
						t.Fatalf("round %d: %d letters are back", round, c.Total())
					}
				}
				s.Mended = true
				newOperator(t, s, t.TempDir(), true).mustReplay()
				s.Work()
				for i := range 30 {
					if s.Done[job(i)] != 1 {
						t.Errorf("job %d ran %d times", i, s.Done[job(i)])
					}
				}
				if c := count(t, s, s.DeadURL); c.Total() != 0 || len(s.Drain(s.SourceURL)) != 0 {
					t.Errorf("left %+v", c)
				}
			})
		})
	}
}

// A FIFO queue shows ten of a group: a replay goes forward in portions, and keeps the order
// of each group.
func TestReplayOfFIFOGoesForwardInPortions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "stock.fifo", 47, twoGroups)
		o := newOperator(t, s, t.TempDir(), true)
		if sum := o.mustReplay(); sum != (replay.Summary{Sent: 47}) {
			t.Fatalf("summary %+v", sum)
		}
		got := map[string][]string{}
		for _, m := range s.Drain(s.SourceURL) {
			g := m.Attributes["MessageGroupId"]
			got[g] = append(got[g], *m.Body)
		}
		want := map[string][]string{}
		for i := range 47 {
			want[twoGroups(i)] = append(want[twoGroups(i)], job(i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// Jobs that die again while the run is under way are no part of it, and none is lost: SQS drops
// a message with the deduplication id of another one, and confirms it.
func TestJobsThatDieAgainDuringTheRunAreNotLost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		source string
		body   func(int) string
		plain  bool
	}{
		"with a key":                  {"stock.fifo", job, false},
		"without a key":               {"stock.fifo", func(i int) string { return fmt.Sprintf(`{"n":%d}`, i) }, false},
		"without a key, without link": {"stock.fifo", func(i int) string { return fmt.Sprintf(`{"n":%d}`, i) }, true},
		"standard":                    {"orders", job, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const n = 24
				s := letterstest.New(t, tt.source)
				for i := range n {
					group := ""
					if tt.source == "stock.fifo" {
						group = twoGroups(i)
					}
					s.Send(s.SourceURL, tt.body(i), group, nil)
				}
				s.Work()
				for round := range 3 { // within five minutes
					o := newOperator(t, s, t.TempDir(), true)
					o.Options.Plain = tt.plain
					o.Options.Observe = func(replay.Event) { s.Work() }
					if sum := o.mustReplay(); sum != (replay.Summary{Sent: n}) {
						t.Errorf("round %d: summary %+v", round, sum)
					}
					s.Work()
					if c := count(t, s, s.DeadURL); c.Total() != n {
						t.Fatalf("round %d: %d letters are there, want %d", round, c.Total(), n)
					}
				}
			})
		})
	}
}

// A message that SQS confirms with the id of another one was dropped: its letter stays.
func TestARepetitionIsNotConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "stock.fifo", 2, func(i int) string { return string(rune('a' + i)) })
		o := newOperator(t, s, t.TempDir(), true)
		pass, err := o.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass.Plan.Items[1].DedupID = pass.Plan.Items[0].DedupID
		sum, err := o.Execute(t.Context(), pass)
		if err != nil || sum != (replay.Summary{Sent: 1, Uncertain: 1}) {
			t.Errorf("summary %+v, %v", sum, err)
		}
		if c := count(t, s, s.DeadURL); c.Total() != 1 {
			t.Errorf("%d letters are left, want 1", c.Total())
		}
	})
}

// A job of a FIFO queue may die again while the replay goes on, at once even. Its new
// letter stays in the queue, and is no part of the run.
func TestAJobThatDiesAgainDuringTheReplayHasItsLetter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const jobs = 14
		s := buried(t, "stock.fifo", jobs, twoGroups)
		o := newOperator(t, s, t.TempDir(), true)
		o.Options.Observe = func(e replay.Event) {
			if e.State == replay.StateDeleted {
				s.Work()
			}
		}
		if sum := o.mustReplay(); sum != (replay.Summary{Sent: jobs}) {
			t.Errorf("summary %+v", sum)
		}
		want := map[string]int{}
		for i := range jobs {
			want[job(i)] = 1
		}
		if diff := cmp.Diff(want, counted(bodies(s, s.DeadURL))); diff != "" {
			t.Errorf("letters after the replay (-want +got):\n%s", diff)
		}
	})
}

// With a filter a FIFO replay leaves the others where they are, and ends.
func TestReplayOfFIFOWithAFilter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "stock.fifo", 16, func(int) string { return "a" })
		o := newOperator(t, s, t.TempDir(), true)
		o.Filter.IDs = []string{"j-1", "j-5", "j-12", "j-15"}
		sum := o.mustReplay()
		// Of 16 letters in one group 10 are shown: j-12 comes within sight when two are gone.
		if sum.Sent < 2 || sum.Failed() {
			t.Errorf("summary %+v", sum)
		}
		if c := count(t, s, s.DeadURL); c.Visible != 16-sum.Sent || c.InFlight != 0 {
			t.Errorf("left %+v", c)
		}
	})
}

func TestThePlanSaysWhatTheLedgerWillSay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		s.Bury(`{"id":"runs","do":"declined"}`, "")
		s.Bury(`{"id":"done","do":"declined"}`, "")
		<-time.After(time.Minute)
		s.Mended = true
		s.Bury(`{"id":"done","do":"declined"}`, "") // its producer sent it again
		s.Mended = false
		s.Bury(`{"id":"other","do":"declined"}`, "")
		s.Bury(`{"id":"other","do":"nothing"}`, "")
		s.Bury(`no json, no key`, "")
		s.Bury(`{"id":"gone","do":"declined"}`, "")
		s.Forget("orders#gone")
		s.Send(s.SourceURL, `{"id":"moved"}`, "", nil)
		s.RunOnce()
		s.MoveBySQS()
		s.Send(s.DeadURL, `{"id":"stranger"}`, "", nil)
		o := newOperator(t, s, t.TempDir(), true)
		pass, err := o.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, i := range pass.Plan.Items {
			name := i.Letter.Record.Key
			if name == "" {
				name = string(i.Letter.Kind)
			}
			got[name] = string(i.Outlook) + " " + i.Target.Name + " " + i.Refused
		}
		want := map[string]string{
			"runs": "runs orders ", "done": "duplicate orders ", "recorded": "runs orders ", "gone": "unprotected orders ",
			"moved": "runs orders ", "unknown": "unknown orders ", "other": "conflict orders ",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outlooks (-want +got):\n%s", diff)
		}
		safe, verdict := pass.Plan.Tally().Verdict()
		if safe || !strings.Contains(verdict, "not safe: 1 job runs without the protection of the ledger") ||
			!strings.Contains(verdict, "1 job is not known to the ledger") {
			t.Errorf("%v: %s", safe, verdict)
		}
		// And so it is.
		s.Mended = true
		if _, err := o.Execute(t.Context(), pass); err != nil {
			t.Fatal(err)
		}
		runs := map[string]int{`{"id":"runs","do":"declined"}`: 1, `{"id":"done","do":"declined"}`: 0,
			`no json, no key`: 0, `{"id":"gone","do":"declined"}`: 1, `{"id":"moved"}`: 1, `{"id":"stranger"}`: 1,
			`{"id":"other","do":"declined"}`: 0}
		s.Done = map[string]int{}
		s.Work()
		<-time.After(10 * time.Minute)
		s.Work()
		for body, want := range runs {
			if s.Done[body] != want {
				t.Errorf("%s ran %d times, want %d", body, s.Done[body], want)
			}
		}
	})
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const safely = "true safe: each job runs once, or is recognized as a duplicate"
	for want, tally := range map[string]replay.Tally{
		"false nothing can be sent": {Letters: 2, Refused: 2},
		"true safe, and of no use: all of these jobs are done; discard the letters": {Letters: 2, Duplicates: 2},
		safely: {Letters: 3, Runs: 2, Duplicates: 1},
		safely + "; but 1 was replayed before and failed again": {Letters: 1, Runs: 1, Again: 1},
	} {
		safe, text := tally.Verdict()
		if got := fmt.Sprint(safe, " ", text); got != want {
			t.Errorf("%+v: %s, want %s", tally, got, want)
		}
	}
}

func TestWhatCannotBeSentStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		s.Bury(job(1), "")
		s.Send(s.DeadURL, `{"busArn":"b","errorCode":"X","failedMessages":[{},{}]}`, "", nil)
		s.Send(s.DeadURL, strings.Repeat("x", 2000), "", nil)
		s.SetMaxBytes(s.SourceURL, 1024)
		o := newOperator(t, s, t.TempDir(), true)
		pass, err := o.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var refused []string
		for _, i := range pass.Plan.Items {
			refused = append(refused, i.Refused)
		}
		slices.Sort(refused)
		want := []string{
			"", "it has 2000 bytes, and queue orders takes 1024", "it is a report about events, not the events themselves",
		}
		if !slices.Equal(refused, want) {
			t.Errorf("refused %q", refused)
		}
		sum, err := o.Execute(t.Context(), pass)
		if err != nil || sum.Sent != 1 {
			t.Errorf("summary %+v, %v", sum, err)
		}
		if c := count(t, s, s.DeadURL); c.Visible != 2 {
			t.Errorf("left %+v", c)
		}
	})
}

// Each call of a replay fails: at once, after its effect, for some entries. Nothing is lost,
// nothing stays hidden, and what was sent twice is known.
func TestReplaySurvivesFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]localaws.Fault{
		"refused":        {Code: "AccessDenied", Status: http.StatusForbidden},
		"failed once":    {Times: 1},
		"throttled":      {Times: 2, Code: "ThrottlingException"},
		"lost once":      {Times: 1, Reset: true},
		"no answer":      {Times: 1, AfterEffect: true},
		"no answer ever": {AfterEffect: true},
		"entries":        {Times: 1, Entries: []string{"1", "3"}, Status: http.StatusInternalServerError},
		"entries ever":   {Entries: []string{"0", "3"}, Code: "InternalError", Status: http.StatusInternalServerError},
	}
	operations := []string{
		"GetQueueAttributes", "ReceiveMessage", "ChangeMessageVisibilityBatch", "SendMessageBatch", "DeleteMessageBatch",
		"ListQueueTags", "TagQueue", "UntagQueue", "ListMessageMoveTasks", "GetQueueUrl", "BatchGetItem",
		"ListDeadLetterSourceQueues",
	}
	for _, source := range []string{"orders", "stock.fifo"} {
		for _, operation := range operations {
			for name, fault := range faults {
				if len(fault.Entries) > 0 && !strings.HasSuffix(operation, "MessageBatch") {
					continue
				}
				t.Run(source+" "+operation+" "+name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { survive(t, source, operation, fault) })
				})
			}
		}
	}
}

func survive(t *testing.T, source, operation string, fault localaws.Fault) {
	t.Helper()
	const n = 14
	s := buried(t, source, n, twoGroups)
	o := newOperator(t, s, t.TempDir(), true)
	fault.Operation = operation
	remove := s.Server.Inject(fault)
	sum, err := o.replay()
	remove()
	<-time.After(time.Minute) // what could not be released comes back
	sent, left := counted(bodies(s, s.SourceURL)), counted(bodies(s, s.DeadURL))
	twice, both := 0, 0
	for i := range n {
		if sent[job(i)]+left[job(i)] == 0 {
			t.Errorf("letter %d is lost", i)
		}
		if sent[job(i)] > 1 {
			twice++
		}
		if sent[job(i)] > 0 && left[job(i)] > 0 {
			both++
		}
	}
	if twice > 0 {
		t.Errorf("%d were sent twice", twice)
	}
	if both > sum.Uncertain+sum.Undeleted {
		t.Errorf("%d are in both queues, and the summary is %+v", both, sum)
	}
	if err == nil && len(sent) != sum.Sent+sum.Undeleted+min(both, sum.Uncertain) {
		t.Errorf("%d sent, %+v", len(sent), sum)
	}
	if err == nil && len(left) > 0 && !sum.Failed() && operation != "ReceiveMessage" { // those were hidden
		t.Errorf("%d left, and nothing failed: %+v", len(left), sum)
	}
}

// The operator is killed at each call, before and after its effect. Whoever resumes the run
// loses nothing, and sends nothing twice of which the journal knows that it was sent.
func TestKillAtEachCall(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"orders", "stock.fifo"} {
		for _, protected := range []bool{true, false} {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprint(source, " ledger ", protected, " after ", after), func(t *testing.T) {
					t.Parallel()
					for cut := 1; ; cut++ {
						alive := false
						synctest.Test(t, func(t *testing.T) { alive = killAt(t, source, protected, after, cut) })
						if alive || t.Failed() {
							if cut < 10 {
								t.Errorf("a replay makes %d calls", cut)
							}
							return
						}
					}
				})
			}
		}
	}
}

// killAt reports whether the replay came to its end before the cut.
func killAt(t *testing.T, source string, protected, after bool, cut int) bool {
	t.Helper()
	n := 13
	if source != "orders" { // goes forward in many small portions
		n = 7
	}
	s := buried(t, source, n, twoGroups)
	o := newOperator(t, s, t.TempDir(), protected)
	o.line.cut, o.line.after = cut, after
	_, err := o.replay()
	if !o.line.isDead() {
		if err != nil {
			t.Fatalf("cut %d: %v", cut, err)
		}
		return true
	}
	states := map[string]replay.State{}
	if past, err := replay.ReadJournal(o.Path()); err == nil {
		<-time.After(3 * time.Minute) // until the lock of the dead run ends
		next := newOperator(t, s, o.Directory, protected)
		for id, line := range past.Letters {
			states[id] = line.State
		}
		if _, err := next.Resume(t.Context(), o.Path(), false, nil); err != nil && len(states) > 0 {
			t.Fatalf("cut %d: resume: %v", cut, err)
		}
		if past, err = replay.ReadJournal(o.Path()); err != nil || !past.Ended && len(states) > 0 {
			t.Fatalf("cut %d: journal afterwards: %+v, %v", cut, past, err)
		}
	} else if !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "no first line") {
		t.Fatalf("cut %d: %v", cut, err)
	}
	<-time.After(3 * time.Minute)
	perhaps := 0
	for _, state := range states {
		if state == replay.StateSending {
			perhaps++
		}
	}
	sent, left := counted(bodies(s, s.SourceURL)), counted(bodies(s, s.DeadURL))
	twice := 0
	for i := range n {
		a, b := sent[job(i)], left[job(i)]
		if a+b == 0 {
			t.Errorf("cut %d: letter %d is lost", cut, i)
		}
		if a > 1 || a == 1 && b == 1 {
			twice++
		}
		if a > 2 || b > 1 || a > 1 && !protected {
			t.Errorf("cut %d: letter %d is %d times in the source and %d times in the queue", cut, i, a, b)
		}
	}
	if twice > perhaps {
		t.Errorf("cut %d: %d are there twice, and the journal did not know of %d", cut, twice, perhaps)
	}
	if len(states) > 0 && protected && source == "orders" && len(left) > 0 {
		t.Errorf("cut %d: %d letters are left after the resumed run", cut, len(left))
	}
	return false
}

func TestTwoOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "orders", 40, noGroup)
		first, second := newOperator(t, s, t.TempDir(), true), newOperator(t, s, t.TempDir(), true)
		second.Who = "bob"
		first.Options.Rate = 5
		type result struct {
			sum replay.Summary
			err error
		}
		results := make(chan result)
		go func() {
			sum, err := first.replay()
			results <- result{sum, err}
		}()
		<-time.After(2 * time.Second)
		sum, err := second.replay()
		var busy *replay.BusyError
		if !errors.As(err, &busy) || busy.Who != "ann" || busy.Run != first.Run() || sum.Sent != 0 {
			t.Errorf("the second operator: %+v, %v", sum, err)
		}
		if r := <-results; r.err != nil || r.sum.Sent != 40 {
			t.Errorf("the first operator: %+v", r)
		}
		if got := bodies(s, s.SourceURL); len(got) != 40 || len(counted(got)) != 40 {
			t.Errorf("%d messages, %d different", len(got), len(counted(got)))
		}
		// The lock is gone with the run.
		s.Send(s.DeadURL, "x", "", nil)
		if sum, err := newOperator(t, s, t.TempDir(), false).replay(); err != nil || sum.Sent != 1 {
			t.Errorf("afterwards: %+v, %v", sum, err)
		}
	})
}

func TestARedriveBySQSIsAReplayUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "orders", 3, noGroup)
		s.StartMove()
		_, err := newOperator(t, s, t.TempDir(), true).replay()
		var busy *replay.BusyError
		if !errors.As(err, &busy) || !strings.Contains(err.Error(), "a redrive is under way") {
			t.Errorf("error %v", err)
		}
	})
}

func TestTheRateHolds(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]time.Duration{5: 8 * time.Second, 40: time.Second, 0: 0} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := buried(t, "orders", 40, noGroup)
				o := newOperator(t, s, t.TempDir(), true)
				o.Options.Rate = rate
				pass, err := o.Look(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				if _, err := o.Execute(t.Context(), pass); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took < want || took > want+2*time.Second {
					t.Errorf("took %v, want %v", took, want)
				}
			})
		})
	}
}

// In AWS the numbers of a queue are late: what was deleted counts a while longer, and is no
// growth. What comes is.
func TestLateNumbersAreNoGrowth(t *testing.T) {
	t.Parallel()
	for name, arrivals := range map[string]int{"late": 0, "grows": 15} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := buried(t, "orders", 40, noGroup)
				o := newOperator(t, s, t.TempDir(), true)
				o.Options.Growth, o.Options.Rate, o.Options.CheckEvery = 0, 2, time.Second
				o.Options.CountLag = 5 * time.Second
				sent := 0
				o.Options.Observe = func(replay.Event) {
					if sent++; sent <= 4 || sent > 15 && sent <= 15+arrivals { // as if they were deleted later
						s.Send(s.DeadURL, "late", "", nil)
					}
				}
				go func() {
					<-time.After(4 * time.Second)
					s.Drain(s.DeadURL)
				}()
				sum, err := o.replay()
				var stopped *replay.StoppedError
				if errors.As(err, &stopped) != (arrivals > 0) || err == nil && sum.Sent != 40 {
					t.Errorf("summary %+v, %v", sum, err)
				}
			})
		})
	}
}

// A slow replay of many letters keeps them hidden until their turn.
func TestLettersStayHeldForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "orders", 60, noGroup)
		o := newOperator(t, s, t.TempDir(), true)
		o.Options.Rate = 0.1 // ten minutes
		done := make(chan error)
		go func() {
			_, err := o.replay()
			done <- err
		}()
		for range 9 {
			<-time.After(time.Minute)
			if c := count(t, s, s.DeadURL); c.Visible != 0 {
				t.Errorf("%+v in the middle of the replay", c)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestConditionsEndARun(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(s *letterstest.Stack, o *replay.Options){
		"an alarm": func(_ *letterstest.Stack, o *replay.Options) {
			o.Conditions = []replay.Condition{afterSeconds(5, "alarm Flood is in ALARM")}
		},
		"before the first": func(_ *letterstest.Stack, o *replay.Options) {
			o.Conditions = []replay.Condition{afterSeconds(0, "the mapping is paused")}
		},
		"the queue grows": func(s *letterstest.Stack, o *replay.Options) {
			o.Growth = 0
			o.Conditions = []replay.Condition{func(ctx context.Context) (string, error) {
				s.Send(s.DeadURL, "a job that failed again", "", nil)
				return "", nil
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := buried(t, "orders", 40, noGroup)
				o := newOperator(t, s, t.TempDir(), true)
				o.Options.Rate, o.Options.CheckEvery = 2, time.Second
				set(s, &o.Options)
				sum, err := o.replay()
				var stopped *replay.StoppedError
				if !errors.As(err, &stopped) || sum.Untried == 0 || sum.Sent+sum.Untried != 40 {
					t.Errorf("summary %+v, %v", sum, err)
				}
				if c := count(t, s, s.DeadURL); c.InFlight != 0 || c.Visible < sum.Untried {
					t.Errorf("left %+v", c)
				}
				// It can be resumed.
				next := newOperator(t, s, t.TempDir(), true)
				rest, err := next.Resume(t.Context(), o.Path(), false, nil)
				if err != nil || rest.Sent != sum.Untried {
					t.Errorf("the rest: %+v, %v", rest, err)
				}
			})
		})
	}
}

func TestStepsWaitForTheOutcome(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mended bool
		sent   int
		reason string
	}{
		"all end well":  {true, 40, ""},
		"one dies":      {false, 1, "1 of 1 job is dead again"},
		"none is taken": {true, 1, "had not ended after 5m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := buried(t, "orders", 40, noGroup)
				s.Mended = tt.mended
				o := newOperator(t, s, t.TempDir(), true)
				o.Options.Steps = []int{1, 5}
				tracker := &replay.Tracker{Table: o.Table, Queue: o.Queue}
				o.Options.Observe = tracker.Observe
				o.Options.Outcome = func(ctx context.Context, items []*replay.Item) (int, string, error) {
					if name != "none is taken" {
						s.Work()
					}
					return tracker.Step(ctx, items)
				}
				sum, err := o.replay()
				if sum.Sent != tt.sent || (err == nil) != (tt.reason == "") ||
					err != nil && !strings.Contains(err.Error(), tt.reason) {
					t.Errorf("summary %+v, %v", sum, err)
				}
			})
		})
	}
}

func TestAnEditedLetterIsNeverSentBesideItsCopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := buried(t, "orders", 3, noGroup)
		o := newOperator(t, s, t.TempDir(), true)
		o.Filter.IDs = []string{"j-1"}
		edited := `{"id":"j-1","do":"nothing"}`
		o.Body = &edited
		if sum := o.mustReplay(); sum.Sent != 1 {
			t.Fatalf("%+v", sum)
		}
		s.Work()
		if s.Done[edited] != 1 || s.Done[job(1)] != 0 {
			t.Errorf("done %v", s.Done)
		}
		if c := count(t, s, s.DeadURL); c.Visible != 2 {
			t.Errorf("left %+v", c)
		}
		past, err := replay.ReadJournal(o.Path())
		if err != nil || !past.Letters[past.Order[0]].Edited || past.Letters[past.Order[0]].Original == "" {
			t.Errorf("journal %+v, %v", past, err)
		}
		if info, err := os.Stat(o.Path()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	})
}

func TestJournalsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "cut": `{"v":1`, "other": "{\"v\":1}\n", "text": "hello\n"} {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := replay.ReadJournal(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadJournal(f *testing.F) {
	f.Add(`{"v":1,"run":"r"}` + "\n" +
		`{"state":"planned","id":"a"}` + "\n" + `{"state":"sent","ids":["a","b"]}` + "\n{\"sta")
	f.Fuzz(func(t *testing.T, text string) {
		path := t.TempDir() + "/j"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		past, err := replay.ReadJournal(path)
		if err == nil && (len(past.Order) != len(past.Letters) || past.Unfinished() > len(past.Order)) {
			t.Errorf("%+v", past)
		}
	})
}

func afterSeconds(n int, reason string) replay.Condition {
	start := time.Now()
	return func(context.Context) (string, error) {
		if time.Since(start) < time.Duration(n)*time.Second {
			return "", nil
		}
		return reason, nil
	}
}
