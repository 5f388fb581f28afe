package idem

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Step runs a part of a job once over all attempts of the job. After fn has returned nil,
// no later attempt runs it again, nor does a replay, edited or not, until the store
// forgets the job. An error of fn is returned as it is. After an error or a panic of fn
// the next attempt runs the step again.
//
// The step is recorded with one write after fn. A process that dies between the two runs
// fn again in a later attempt. So within fn, [Key] is the step's own key, such as
// "ch-1#charge". It is the same at every run of the step. Pass it to every receiver that
// takes such a key.
//
// A name is any text but the empty one, and is unique in its job. It may contain what the
// step depends on, such as "charge-1250", if an edited payload must run another step. A
// name of 1 to 64 ASCII letters, digits, dots, dashes and underscores is recorded
// unchanged. Any other is recorded as its readable start and its hash, "photos_cat.png~"
// with 32 hexadecimal digits, and the step's key ends with the same text. A job can
// record 48 KB of names and results. Steps may run concurrently and be nested.
//
// The error is a [*StepError] if Step is called outside of a job that has a [Ledger],
// without a name, with the name of a running step, without room, or after the job has
// returned or was completed by its transaction. No rule of package fault knows this
// error. So the job gets the few attempts of an unclassified error, which leaves time to
// fix the code. The error is a [*LostError] if another delivery has taken over the job.
// If fn ran but could not be recorded, the error is that of the store, and the job is
// retried and uses no budget. In none of these cases is the effect of fn undone.
func Step(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	_, err := runStep(ctx, name, 0, func(ctx context.Context) (string, error) { return "", fn(ctx) })
	return err
}

// StepValue is a [Step] with a result that is recorded for later attempts, up to 4 KB of
// JSON. There must be room for 4 KB. At the first run, too, the returned value is decoded
// from that JSON. If the result cannot be recorded, the error is a [*StepError] in this
// run and all later ones, and fn is not run again.
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

// stepResultBytes is the size limit of a recorded result, as JSON.
const stepResultBytes = 4 << 10

// encodeResult returns the result as JSON, or the problem with it.
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

// StepError says that a [Step] was used incorrectly. This is a bug in the code, not an
// error of the job or of the step's work. Its class is fault.ClassUnclassified.
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

// runStep returns the result of the step, from this run or an earlier one. resultBytes is
// the greatest size of its result.
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
		if err := s.startError(ctx); err != nil {
			return "", err
		}
		var err error
		if result, err = fn(withKey(ctx, s.key+"#"+recorded)); err != nil {
			return "", err
		}
	}
	return result, s.record(ctx, recorded, result)
}
