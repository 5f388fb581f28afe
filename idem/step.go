package idem

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Step runs a part of a job that is not to be repeated with the rest: once fn
// has returned nil, no later attempt of the job runs it again, and neither does
// a replay, edited or not, until the store forgets the job. What fn returns as
// an error is what Step returns, and like a panic it leaves the step to be run
// again.
//
// The record is one write behind fn. A process that dies between the two runs
// fn again, so within fn [Key] is the step's own, "ch-1#charge": the same at
// every run of it, for everything that takes such a key.
//
// A name is any text but the empty one, and is unique in its job; it may say what
// the step depends on, such as "charge-1250", where an edited payload is to run
// another step. A name of 1 to 64 letters, digits, dots, dashes and underscores
// of ASCII is recorded as it is. Any other is recorded as its readable begin and
// its hash, "photos_cat.png~" with 32 hexadecimal digits, which is also what
// follows the "#" in the step's key. A job has room for 48 KB of recorded names
// and results. Steps may run side by side and within each other.
//
// The error is a [*StepError] if Step is called outside of a job that has a
// [Ledger], without a name, with one whose step is running, without room, or after
// the job has returned or was completed by its transaction. No rule of package fault
// knows it: the job gets the few runs of an unclassified error, which leaves time to
// mend the code. It is a [*LostError]
// if the job is another delivery's by now. If fn ran but could not be recorded, it
// is the store's, and the job is retried at no cost. In none of these cases is
// fn's work undone.
func Step(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	_, err := runStep(ctx, name, 0, func(ctx context.Context) (string, error) { return "", fn(ctx) })
	return err
}

// StepValue is a [Step] whose result is kept for the later attempts: of up to 4
// KB as JSON, room for which must be left. It is what JSON makes of it at the
// first run, too. A result that cannot be kept gives a [*StepError], at this run
// and at all later ones, and fn is not run again.
func StepValue[T any](ctx context.Context, name string, fn func(ctx context.Context) (T, error)) (T, error) {
	var value T
	problem := "the step is done, but it kept no result"
	document, err := runStep(ctx, name, stepResultBytes, func(ctx context.Context) (string, error) {
		result, err := fn(ctx)
		if err != nil {
			return "", err
		}
		document, unkept := encodeResult(result)
		if unkept != "" {
			problem = unkept
		}
		return document, nil
	})
	switch {
	case err != nil:
		return value, err
	case document == "":
		return value, misused(name, problem)
	}
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		var none T
		return none, misused(name, fmt.Sprintf("the step is done, but its result is no %T: %v", none, err))
	}
	return value, nil
}

// stepResultBytes is the longest result that is kept, as JSON.
const stepResultBytes = 4 << 10

// encodeResult gives the result as JSON, or else what is wrong with it.
func encodeResult(result any) (document, problem string) {
	encoded, err := json.Marshal(result)
	if err != nil {
		return "", fmt.Sprintf("the step is done, but its result cannot be kept: %v", err)
	}
	if len(encoded) > stepResultBytes {
		return "", fmt.Sprintf("the step is done, but its result has %d bytes of JSON; keep at most %d, such as its id",
			len(encoded), stepResultBytes)
	}
	return string(encoded), ""
}

// StepError says that a [Step] was used in a way that cannot work: a fault of the
// code, not of the job and not of the step's own work. Its class is
// fault.ClassUnclassified.
type StepError struct {
	// Name is the step's, as the code gave it.
	Name string
	// Problem is what is wrong, and what to do about it.
	Problem string
}

// Error names the step and the problem.
func (e *StepError) Error() string { return fmt.Sprintf("idem: step %q: %s", e.Name, e.Problem) }

func misused(name, problem string) error { return &StepError{Name: name, Problem: problem} }

// noJob is the problem of a step outside of a job.
const noJob = "the context is not that of a job; call it within a handler whose processor has an idem.Ledger"

// runStep gives the result of the step, whether it is run now or was before.
// The step may add so many bytes to its name.
func runStep(
	ctx context.Context, name string, resultBytes int, fn func(ctx context.Context) (string, error),
) (string, error) {
	s, ok := ctx.Value(stepsKey{}).(*steps)
	if !ok {
		return "", misused(name, noJob)
	}
	if name == "" {
		return "", misused(name, "it has no name; give each step one of its own")
	}
	recorded := recordedName(name)
	result, state, problem := s.start(recorded, resultBytes)
	if problem != "" {
		return "", misused(name, problem)
	}
	if state == stepRecorded {
		s.log(ctx, slog.LevelInfo, "step done before", recorded)
		return result, nil
	}
	defer s.end(recorded)
	if state == stepOpen {
		if err := s.hindered(ctx); err != nil {
			return "", err
		}
		var err error
		if result, err = fn(withKey(ctx, s.key+"#"+recorded)); err != nil {
			return "", err
		}
	}
	return result, s.record(ctx, recorded, result)
}
