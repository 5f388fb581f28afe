package logs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
)

// The variables that are read for options which are not set.
const (
	levelVariable       = "SQSAFE_LOG_LEVEL"
	oneInVariable       = "SQSAFE_LOG_DEBUG_ONE_IN"
	lastAttemptVariable = "SQSAFE_LOG_DEBUG_LAST_ATTEMPT"
)

// Options are the settings of a [Handler]. What is not set comes from the environment. The
// zero value works.
type Options struct {
	// Level is the least level of the lines, except those of jobs that are debugged; nil
	// means what SQSAFE_LOG_LEVEL names (DEBUG, INFO, WARN or ERROR), and without it the
	// level of the handler that is wrapped.
	Level slog.Leveler
	// DebugOneIn writes the lines from DEBUG up for one job in that many, whatever Level
	// says. A job is chosen by its key, so that all of its attempts are debugged, in every
	// process. 1 debugs all jobs, and a number below 0 none; 0 means what
	// SQSAFE_LOG_DEBUG_ONE_IN says, and none without it.
	DebugOneIn int
	// DebugLastAttempt does the same for a run whose failure would end the job, see
	// handler.Message.LastAttempt. True is also SQSAFE_LOG_DEBUG_LAST_ATTEMPT=true.
	DebugLastAttempt bool
	// TraceID returns the trace id that is logged; empty for none. Nil means the trace of
	// the message's producer: its attribute traceparent, or the trace header of X-Ray.
	// It must be safe for concurrent use. tracing.TraceID is such a function.
	TraceID func(ctx context.Context) string
}

// withEnvironment returns the options with what the environment sets.
func (o *Options) withEnvironment(lookup func(string) (string, bool)) (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	var errs []error
	if name, _ := lookup(levelVariable); out.Level == nil && name != "" {
		level, err := parseLevel(name)
		if out.Level = level; err != nil {
			errs = append(errs, err)
		}
	}
	if text, _ := lookup(oneInVariable); out.DebugOneIn == 0 && text != "" {
		n, err := strconv.Atoi(text)
		if out.DebugOneIn = n; err != nil || n < 1 {
			errs = append(errs, fmt.Errorf("environment variable %s is %q; set it to a number of jobs, at least 1",
				oneInVariable, text))
		}
	}
	if text, _ := lookup(lastAttemptVariable); !out.DebugLastAttempt && text != "" {
		last, err := strconv.ParseBool(text)
		if out.DebugLastAttempt = last; err != nil {
			errs = append(errs, fmt.Errorf("environment variable %s is %q; set it to true or false",
				lastAttemptVariable, text))
		}
	}
	return out, errors.Join(errs...)
}

// parseLevel takes also TRACE and FATAL, which Lambda's own setting of the level has and
// slog has not.
func parseLevel(name string) (slog.Level, error) {
	switch strings.ToUpper(name) {
	case "TRACE", "DEBUG":
		return slog.LevelDebug, nil
	case "INFO":
		return slog.LevelInfo, nil
	case "WARN":
		return slog.LevelWarn, nil
	case "ERROR", "FATAL":
		return slog.LevelError, nil
	}
	return slog.LevelInfo, fmt.Errorf("environment variable %s is %q; set it to DEBUG, INFO, WARN or ERROR",
		levelVariable, name)
}

// New returns a logger with a [Handler] that wraps next. Its errors are those of
// [NewHandler].
func New(next slog.Handler, o *Options) (*slog.Logger, error) {
	h, err := NewHandler(next, o)
	if err != nil {
		return nil, err
	}
	return slog.New(h), nil
}

// NewHandler returns a Handler that wraps next; nil options mean the environment's
// settings. The error names the environment variables that are wrong.
func NewHandler(next slog.Handler, o *Options) (*Handler, error) {
	return newHandler(next, o, os.LookupEnv)
}

func newHandler(next slog.Handler, o *Options, lookup func(string) (string, bool)) (*Handler, error) {
	if next == nil {
		return nil, errors.New("logs.NewHandler: the handler is nil; give it one, " +
			"such as sqsafe.NewLogger(os.Stderr).Handler()")
	}
	set, err := o.withEnvironment(lookup)
	if err != nil {
		return nil, err
	}
	if wrapped, ok := next.(*Handler); ok { // or each field would be there twice
		next = wrapped.whole()
	}
	return &Handler{next: next, options: set}, nil
}
