package sqsafe

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// NewLogger gives the logger that [Start] and the worker use where the options
// name none: JSON lines in Lambda's own log format, with the members timestamp,
// level and message, from the level on that AWS_LAMBDA_LOG_LEVEL names, INFO
// where it is not set. Lambda sets that variable to the function's
// ApplicationLogLevel. It is safe for concurrent use.
func NewLogger(w io.Writer) *slog.Logger { return newLogger(w, os.LookupEnv) }

func newLogger(w io.Writer, lookup lookupFunc) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: lookup.level(), ReplaceAttr: lambdacontext.ReplaceAttr,
	}))
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
