package idem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// stepsBytes is the room for the steps of a job. An item of DynamoDB has 400
// KB; verdict and history, with the rest, take 330 of them at most.
const stepsBytes = 48 << 10

// steps are those of one run of a job.
type steps struct {
	*Ledger
	key   string
	claim Claim
	// recorder is where steps are recorded.
	recorder Store
	// unprotected tells that the job runs without a claim.
	unprotected bool
	// lease is when the claim lapses; zero where it is renewed, and where there
	// is none.
	lease time.Time
	// completion tells whether the job's own transaction completed it; nil
	// where the job runs without a claim.
	completion *Completion

	mu     sync.Mutex
	byName map[string]*step
	ended  bool
}

// step is one that is running in this run, or done.
type step struct {
	state   stepState
	running bool
	result  string
	// bytes is the room that it takes, or may come to take.
	bytes int
}

// stepState says how far a step has come.
type stepState uint8

const (
	// stepOpen is still to be done.
	stepOpen stepState = iota
	// stepUnrecorded is done, but the store does not know.
	stepUnrecorded
	// stepRecorded is done for good.
	stepRecorded
)

type stepsKey struct{}

func withSteps(ctx context.Context, s *steps) context.Context {
	return context.WithValue(ctx, stepsKey{}, s)
}

// newSteps knows what earlier runs have done.
func newSteps(l *Ledger, key string, done map[string]string) *steps {
	s := &steps{Ledger: l, key: key, byName: map[string]*step{}}
	for name, result := range done {
		s.byName[name] = &step{state: stepRecorded, result: result, bytes: stepBytes(name, len(result))}
	}
	return s
}

// stepBytes is the room that a step takes.
func stepBytes(name string, resultBytes int) int {
	const overhead = 8
	return len(name) + resultBytes + overhead
}

// used is the room that is taken.
func (s *steps) used() int {
	used := 0
	for _, at := range s.byName {
		used += at.bytes
	}
	return used
}

// start begins a step, or gives its result if it is done already. The problem
// is why it may not start.
func (s *steps) start(name string, resultBytes int) (result string, state stepState, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byName[name]
	if at != nil && at.state == stepRecorded {
		return at.result, at.state, ""
	}
	if problem := s.forbids(at, stepBytes(name, resultBytes)); problem != "" {
		return "", stepOpen, problem
	}
	if at == nil {
		at = &step{bytes: stepBytes(name, resultBytes)}
		s.byName[name] = at
	}
	at.running = true
	return at.result, at.state, ""
}

// forbids tells why a step may not start now, which is nil if it was never done
// in this run; empty if it may.
func (s *steps) forbids(at *step, bytes int) string {
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

// finish notes that the step's work is done.
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

// end is called when the step has run, or tried to.
func (s *steps) end(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byName[name]
	at.running = false
	if at.state == stepOpen {
		delete(s.byName, name)
	}
}

// recorded notes that the step is done for good.
func (s *steps) recorded(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName[name].state = stepRecorded
}

// close lets no more steps start. The job has returned, or was left behind.
func (s *steps) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// hindered tells why a step may not start now: as the job itself, it starts
// only under a claim that holds.
func (s *steps) hindered(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !s.lease.IsZero() && blockedBy(ctx, s.lease.Add(-clockMargin)) != "" {
		return &LostError{ID: s.claim.ID}
	}
	return nil
}

// record writes down that the step is done.
func (s *steps) record(ctx context.Context, name, result string) error {
	first := s.finish(name, result)
	if s.unprotected {
		return nil
	}
	write, cancel := writeContext(ctx)
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
		return fault.Permanent(err, fault.Reason(ReasonUnknownOutcome))
	}
	err = fmt.Errorf("idem: step %q is done but not recorded: %w", name, err)
	return fault.Retryable(err, fault.Reason(fault.ReasonStore))
}

// log tells of a step that is not run, or not recorded.
func (s *steps) log(ctx context.Context, level slog.Level, what, name string, more ...slog.Attr) {
	s.options.log(ctx, level, what, append([]slog.Attr{
		slog.String("messageId", s.claim.MessageID), keyField(s.key), slog.String("step", name),
	}, more...)...)
}
