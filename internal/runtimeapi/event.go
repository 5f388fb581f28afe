package runtimeapi

import "time"

// Kind says what an [Event] reports.
type Kind string

// The kinds of events.
const (
	// Started: a process was started.
	Started Kind = "started"
	// Invoked: a process got an event.
	Invoked Kind = "invoked"
	// Answered: the function answered without an error.
	Answered Kind = "answered"
	// Failed: an invocation, or the start for it, ended in a function error.
	Failed Kind = "failed"
	// Exited: a process ended by itself or by a signal from another process.
	Exited Kind = "exited"
	// Killed: a process was killed for a timeout, a failed start or at Close.
	Killed Kind = "killed"
)

// Event describes something that happened to a process or an invocation.
type Event struct {
	Kind Kind
	Time time.Time
	// Function is the function's name.
	Function string
	// RequestID is the request id of the invocation; empty if the event is not
	// about one.
	RequestID string
	// PID is the id of the process; 0 if no process took the invocation.
	PID int
	// Status is how the process ended, such as "exit status 2" or "signal: killed".
	Status string
	// Err is the function error of a Failed event.
	Err *FunctionError
}
