package worker

import (
	"errors"
	"fmt"
)

// ErrForced says that jobs were still running at the end of the drain time, and were
// cancelled.
var ErrForced = errors.New("jobs were cut off at the end of the time to drain")

// CrashError says that the process may be damaged: user code has panicked, or ignored its
// cancellation.
type CrashError struct {
	// Value is the value that the handler panicked with.
	Value any
	// Stack is the stack of a panic outside of the user's function; empty for
	// one inside, whose stack is in the log line of its message.
	Stack string
}

// Error returns the value as text.
func (e *CrashError) Error() string { return fmt.Sprintf("crash: %v", e.Value) }

// Exit codes of a worker.
const (
	exitClean  = 0
	exitFailed = 1
	exitCrash  = 2
	exitForced = 3
)

// ExitCode returns the exit code for the process after [Worker.Run]: 0 after a clean end,
// 2 for a [CrashError], 3 for [ErrForced], and 1 for other errors, such as a queue that
// does not exist.
func ExitCode(err error) int {
	if _, crashed := errors.AsType[*CrashError](err); crashed {
		return exitCrash
	}
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, ErrForced):
		return exitForced
	}
	return exitFailed
}
