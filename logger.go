package sqsafe

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localreport"
)

// NewLogger returns the logger that [Start] and the worker use where the options
// name none: JSON lines in Lambda's own log format, with the members timestamp,
// level and message, from the level on that AWS_LAMBDA_LOG_LEVEL names, INFO
// where it is not set. Lambda sets that variable to the function's
// ApplicationLogLevel. It is safe for concurrent use.
func NewLogger(w io.Writer) *slog.Logger { return newLogger(w, os.LookupEnv, localreport.Writer()) }

// newLogger returns a logger that remembers the report to a local host, if there is one.
func newLogger(w io.Writer, lookup lookupFunc, report io.Writer) *slog.Logger {
	lines := jsonLines(w, lookup.level())
	if report == nil {
		return slog.New(lines)
	}
	return slog.New(ownLines{lines, jsonLines(report, lookup.level())})
}

func jsonLines(w io.Writer, from slog.Level) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: from, ReplaceAttr: lambdacontext.ReplaceAttr})
}

// ownLines writes lines in our format to their place, and knows how to write the same
// lines to the report.
type ownLines struct {
	slog.Handler
	report slog.Handler
}

func (h ownLines) WithAttrs(attrs []slog.Attr) slog.Handler {
	return ownLines{h.Handler.WithAttrs(attrs), h.report.WithAttrs(attrs)}
}

func (h ownLines) WithGroup(name string) slog.Handler {
	return ownLines{h.Handler.WithGroup(name), h.report.WithGroup(name)}
}

// reporting returns the logger of the library where a local host listens. Lines in our
// format go to the host alone, which shows them. Lines of a logger of another format
// stay where they are, since its user wants to see them. The host gets what became of
// messages at every level. The logger that the function's own code has is another one:
// what it logs is never taken for a report.
func reporting(l *slog.Logger, report io.Writer) *slog.Logger {
	told := jsonLines(report, slog.LevelDebug)
	if own, ok := l.Handler().(ownLines); ok {
		return slog.New(reporter{told: told, rest: own.report})
	}
	return slog.New(reporter{told: told, rest: l.Handler(), both: true})
}

// reporter parts what the host counts from the rest.
type reporter struct {
	told, rest slog.Handler
	both       bool // whether the rest gets what the host counts as well
}

func (reporter) Enabled(context.Context, slog.Level) bool { return true }

func (h reporter) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == handler.LogOutcome || r.Message == handler.LogDeadLettered {
		_ = h.told.Handle(ctx, r.Clone()) // a host that has gone counts nothing any more
		if !h.both {
			return nil
		}
	}
	if !h.rest.Enabled(ctx, r.Level) {
		return nil
	}
	return h.rest.Handle(ctx, r)
}

func (h reporter) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.rest = h.rest.WithAttrs(attrs)
	return h
}

func (h reporter) WithGroup(name string) slog.Handler {
	h.rest = h.rest.WithGroup(name)
	return h
}

// level reads Lambda's names: slog has no TRACE and no FATAL.
func (lookup lookupFunc) level() slog.Level {
	name, _ := lookup("AWS_LAMBDA_LOG_LEVEL")
	switch strings.ToUpper(name) {
	case "TRACE", "DEBUG":
		return slog.LevelDebug
	case "WARN":
		return slog.LevelWarn
	case "ERROR", "FATAL":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
