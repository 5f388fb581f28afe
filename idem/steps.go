package idem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/internal/deadline"
)

// stepsBytes limits the size of a job's steps. A DynamoDB item can have 400 KB; verdict,
// history and the rest take 330 KB at most.
const stepsBytes = 48 << 10

// steps has the steps of one run of a job.
type steps struct {
	*Ledger
	key   string
	claim Claim
	// recorder is the store that records steps.
	recorder Store
	// unprotected reports whether the job runs without a claim.
	unprotected bool
	// lease is when the claim expires; zero if it is renewed or there is none.
	lease time.Time
	// completion reports whether the job's own transaction completed it; nil if the job
	// runs without a claim.
	completion *Completion

	mu     sync.Mutex
	byName map[string]*step // nil without steps
	ended  bool
}

// step is a step that is running or done.
type step struct {
	state   stepState
	running bool
	result  string
	// bytes is the size of its record, or an upper limit of it while the step runs.
	bytes int
}

// stepState is the progress of a step.
type stepState uint8

const (
	// stepOpen is not done.
	stepOpen stepState = iota
	// stepUnrecorded is done but not recorded in the store.
	stepUnrecorded
	// stepRecorded is done and recorded.
	stepRecorded
)

type stepsKey struct{}

// prepare sets up the steps of a run, with those that earlier runs have done.
func (s *steps) prepare(l *Ledger, key string, done map[string]string) {
	s.Ledger, s.key = l, key
	for name, result := range done {
		s.put(name, &step{state: stepRecorded, result: result, bytes: stepBytes(name, len(result))})
	}
}

func (s *steps) put(name string, at *step) {
	if s.byName == nil {
		s.byName = map[string]*step{}
	}
	s.byName[name] = at
}

// stepBytes returns the size of a step's record.
func stepBytes(name string, resultBytes int) int {
	const overhead = 8
	return len(name) + resultBytes + overhead
}

// used returns the size of all records.
func (s *steps) used() int {
	used := 0
	for _, at := range s.byName {
		used += at.bytes
	}
	return used
}

// start begins a step, or returns its result if it is already done. problem is why it may
// not start; empty if it may.
func (s *steps) start(name string, resultBytes int) (result string, state stepState, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byName[name]
	if at != nil && at.state == stepRecorded {
		return at.result, at.state, ""
	}
	if problem := s.startProblem(at, stepBytes(name, resultBytes)); problem != "" {
		return "", stepOpen, problem
	}
	if at == nil {
		at = &step{bytes: stepBytes(name, resultBytes)}
		s.put(name, at)
	}
	at.running = true
	return at.result, at.state, ""
}

// startProblem returns why a step may not start now; empty if it may. at is nil if the
// step is new in this run.
func (s *steps) startProblem(at *step, bytes int) string {
	switch {
	case at != nil && at.running:
		return "it is running already; a name stands for one step"
	case s.ended || s.completion != nil && s.completion.Committed():
		return "the job has come to its end; its steps have to end before it returns, or commits its transaction"
	case at == nil && s.used()+bytes > stepsBytes:
		return fmt.Sprintf("the job has %d steps, and no room for another; keep smaller results, or fewer steps",
			len(s.byName))
	}
	return ""
}

// finish records in memory that the step's work is done. first reports whether the job
// has no recorded step yet.
func (s *steps) finish(name, result string) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byName[name]
	at.state, at.result, at.bytes = stepUnrecorded, result, stepBytes(name, len(result))
	for _, other := range s.byName {
		if other.state == stepRecorded {
			return false
		}
	}
	return true
}

// end is called after the step has run or failed to run.
func (s *steps) end(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byName[name]
	at.running = false
	if at.state == stepOpen {
		delete(s.byName, name)
	}
}

// recorded notes that the store has the step.
func (s *steps) recorded(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName[name].state = stepRecorded
}

// close lets no more steps start. The job has returned or was abandoned.
func (s *steps) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// startError returns why a step may not start now; nil if it may. Like the job itself, a
// step starts only under a valid claim.
func (s *steps) startError(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !s.lease.IsZero() && blockedBy(ctx, s.lease.Add(-deadline.ClockMargin)) != "" {
		return &LostError{ID: s.claim.ID}
	}
	return nil
}

// record stores that the step is done.
func (s *steps) record(ctx context.Context, name, result string) error {
	first := s.finish(name, result)
	if s.unprotected {
		return nil
	}
	write, cancel := recordContext(ctx)
	defer cancel()
	err := s.recorder.RecordStep(write, s.claim, StepRecord{Name: name, Result: result, First: first})
	if err == nil {
		s.recorded(name)
		return nil
	}
	if late, ok := errors.AsType[*LateError](err); ok {
		return &LostError{ID: s.claim.ID, Err: late}
	}
	if s.options.FailOpen {
		s.log(ctx, slog.LevelWarn, "step done but not recorded", name, slog.String("error", err.Error()))
		return nil
	}
	if s.options.DeadLetterUnknown {
		// A retry would do the step again before anybody has looked. The store's error is
		// not wrapped: it may be the end of a context, which passes for a cancelled job.
		err = fmt.Errorf("idem: step %q is done but not recorded: %v", name, err) //nolint:errorlint // see above
		return fault.Permanent(err, fault.WithReason(ReasonUnknownOutcome))
	}
	if write.Err() != nil { // its error is the end of a context, see above
		err = errors.New(err.Error())
	}
	err = fmt.Errorf("idem: step %q is done but not recorded: %w", name, err)
	return fault.Retryable(err, fault.WithReason(fault.ReasonStore))
}

// lateRecord is how long a step may be recorded after its job was cancelled. A job that
// has not returned half a second after that, or later, is abandoned, and this counts as a
// crash of it.
const lateRecord = 250 * time.Millisecond

// recordContext returns a context that outlives the job's context by lateRecord, since a
// completed step must still be recorded.
func recordContext(ctx context.Context) (context.Context, context.CancelFunc) {
	write, cancel := writeContext(ctx)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lateRecord, cancel) })
	return write, func() { stop(); cancel() }
}

// log logs a step that was skipped or not recorded.
func (s *steps) log(ctx context.Context, level slog.Level, what, name string, more ...slog.Attr) {
	s.options.log(ctx, level, what, append([]slog.Attr{
		slog.String("messageId", s.claim.MessageID), keyField(s.key), slog.String("step", name),
	}, more...)...)
}
