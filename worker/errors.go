package worker

import (
	"errors"
	"fmt"
)

// ErrForced says that jobs were still running when the time to drain was over.
var ErrForced = errors.New("jobs were cut off at the end of the time to drain")

// CrashError says that the process cannot be trusted any more: user code has
// panicked, or ignored that its time was over.
type CrashError struct {
	// Value is what the handler panicked with.
	Value any
	// Stack is the stack of a panic outside of the user's function; empty for
	// one inside, whose stack is in the log line of its message.
	Stack string
}

// Error tells the value.
func (e *CrashError) Error() string { return fmt.Sprintf("crash: %v", e.Value) }

// Exit codes of a worker.
const (
	exitClean  = 0
	exitFailed = 1
	exitCrash  = 2
	exitForced = 3
)

// ExitCode is the code to end the process with after [Worker.Run]: 0 for a
// clean end, 2 for a [CrashError], 3 for [ErrForced], and 1 for other errors,
// such as a queue that does not exist.
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
