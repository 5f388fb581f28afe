package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/sqsafe/sqsafe/internal/redact"
)

// Exit codes of the command.
const (
	ExitOK = 0
	// ExitFailed: the command failed.
	ExitFailed = 1
	// ExitUsage: the command line was wrong.
	ExitUsage = 2
	// ExitStopped: a replay was stopped by one of its conditions, or its jobs did not end
	// well, or the job that was asked for is dead.
	ExitStopped = 3
	// ExitLetters: dlq status found more dead letters than allowed.
	ExitLetters = 4
	// ExitNotEnded: the job that was asked for has not ended.
	ExitNotEnded = 5
	// ExitUnknown: the table does not have the job.
	ExitUnknown = 6
	// ExitTimeout: the time that --timeout gives ended before the work was done. It is
	// the code of timeout(1).
	ExitTimeout = 124
	// ExitInterrupted: a signal ended the command before it was done.
	ExitInterrupted = 130
)

// errInterrupted says that the command was ended by a signal.
var errInterrupted = errors.New("interrupted")

// usageError is an error in the command line that is only found when the
// command runs.
type usageError string

func (e usageError) Error() string { return string(e) }

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	error
}

func (e *exitError) Unwrap() error { return e.error }

// exitCode is the end of a command that has said everything.
type exitCode int

func (e exitCode) Error() string { return "exit code " + strconv.Itoa(int(e)) }

// Streams are the input and output of a command.
type Streams struct {
	// In is read by commands that take a message from standard input; nil means
	// empty.
	In       io.Reader
	Out, Err io.Writer
}

// commands defines the command line.
type commands struct {
	Init       Init       `cmd:"" help:"Make a folder with a function, a test and a stack that run."`
	Check      Check      `cmd:"" help:"Find what loses or doubles jobs in a template, before it is deployed."`
	Template   Template   `cmd:"" help:"Add alarms, a dashboard and the rollback of deployments to a SAM template."`
	Local      Local      `cmd:"" help:"Run the stack of a SAM template on this machine: queues, tables and functions."`
	Send       Send       `cmd:"" help:"Send messages to a queue: of the local stack, unless told otherwise."`
	Job        Job        `cmd:"" help:"Tell what became of a job, by its key, and wait for its end."`
	Queues     Queues     `cmd:"" help:"Show what queues hold: those of the local stack, unless told otherwise."`
	DLQ        DLQ        `cmd:"" name:"dlq" help:"See, understand and replay dead letters."`
	Ledger     Ledger     `cmd:"" help:"Show what a table knows of jobs, and make it forget one."`
	Completion Completion `cmd:"" help:"Print a script with which a shell completes commands and flags."`
	Help       Help       `cmd:"" help:"Show the help of a command."`
	Version    Version    `cmd:"" help:"Show the version of this program."`
}

// Help is the subcommand that shows the help of another: help X is X --help.
type Help struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

const description = `Background jobs on SQS and Lambda in which every failure has a defined path.

Exit codes: 0 done, 1 failed, 2 wrong command line, 3 a replay was stopped or its jobs did not end
well, 4 dlq status found dead letters, 124 not done within --timeout, 130 interrupted before the
work was done. Those of sqsafe job are in its help.`

// Run runs the command line args and returns the exit code. If ctx is
// cancelled, the command stops cleanly.
func Run(ctx context.Context, args []string, streams Streams) int {
	streams, output := guard(streams)
	return output.exit(run(ctx, args, streams), streams.Err)
}

func run(ctx context.Context, args []string, streams Streams) int {
	code, exited := ExitOK, false
	if streams.In == nil {
		streams.In = strings.NewReader("")
	}
	switch {
	case len(args) > 0 && args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case len(args) > 0 && args[0] == "--version":
		args = []string{"version"}
	}
	parser := kong.Must(&commands{},
		kong.Name("sqsafe"),
		kong.Description(description),
		kong.Vars{"local_endpoint": localEndpoint},
		kong.Writers(streams.Out, streams.Err),
		kong.Exit(func(c int) { code, exited = c, true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(streams),
	)
	if len(args) > 0 && args[0] == completeCommand {
		complete(streams.Out, parser.Model.Node, args[1:])
		return ExitOK
	}
	parsed, err := parser.Parse(args)
	if exited {
		return code
	}
	if err != nil {
		fmt.Fprintf(streams.Err, "sqsafe: %s\n", redact.Text(misuse(err, args).Error()))
		return ExitUsage
	}
	return Exit(parsed.Run(), streams)
}

// Exit prints a command's error and returns its exit code.
func Exit(err error, streams Streams) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errInterrupted):
		return ExitInterrupted
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // joined errors are several lines
	if errors.Is(err, syscall.EISDIR) {
		text += "; name a file in it"
	}
	fmt.Fprintf(streams.Err, "sqsafe: %s\n", redact.Text(text))
	if errors.As(err, new(usageError)) {
		return ExitUsage
	}
	if own, ok := errors.AsType[*exitError](err); ok {
		return own.code
	}
	return ExitFailed
}
