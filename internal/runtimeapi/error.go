package runtimeapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrClosed is what Invoke returns once the function is closed.
var ErrClosed = errors.New("function is closed")

// Error types that Lambda gives itself.
const (
	// TypeTimeout: the function did not answer, or not ask for its first event, in time.
	TypeTimeout = "Sandbox.Timedout"
	// TypeExit: the process ended while it was at work or before its first event.
	TypeExit = "Runtime.ExitError"
	// TypeEntrypoint: the process could not be started.
	TypeEntrypoint = "Runtime.InvalidEntrypoint"
	// TypeResponseSize: the answer is larger than Lambda passes on.
	TypeResponseSize = "Function.ResponseSizeTooLarge"
	// TypeUnknown: the function reported an error without a type.
	TypeUnknown = "Runtime.Unknown"
)

// FunctionError is a failed invocation as Lambda reports it to the caller.
type FunctionError struct {
	// Type is the function's own error type or one of the Type constants.
	Type string
	// Message is what the function or Lambda says about it.
	Message string
	// Stack is the stack of a panic, innermost frame first; nil if none was reported.
	Stack []Frame
	// RequestID names the invocation.
	RequestID string
	// Exited tells that the process is gone.
	Exited bool
	// ExitCode is the process's exit code if it exited; -1 if a signal ended it.
	ExitCode int
	// Signal is the name of the signal that ended the process, such as
	// "killed"; empty otherwise.
	Signal string
	// Killed tells that this package ended the process, for a timeout or at Close.
	Killed bool
	// Starting tells that the process never came to ask for its first event.
	Starting bool
}

// Frame is one line of a reported stack.
type Frame struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Label string `json:"label"`
}

// Error gives type and message.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// of makes the error that of an invocation.
func (e *FunctionError) of(inv *invocation) *FunctionError {
	its := *e
	its.RequestID = inv.id
	return &its
}

func (e *FunctionError) addExit(p *process) {
	s := p.status()
	e.Exited, e.ExitCode, e.Signal, e.Killed = true, s.code, s.signal, p.killed.Load()
}

// longestMessage bounds what is shown of an error report that is not in
// Lambda's form, since it could be a payload.
const longestMessage = 256

func parseReport(body []byte, headerType string) *FunctionError {
	var report struct {
		Message *string         `json:"errorMessage"`
		Type    string          `json:"errorType"`
		Stack   json.RawMessage `json:"stackTrace"`
	}
	err := json.Unmarshal(body, &report)
	e := &FunctionError{Type: cmp.Or(report.Type, headerType, TypeUnknown)}
	if err != nil || report.Message == nil {
		e.Message = fmt.Sprintf("error report without errorMessage: %s", clip(string(body), longestMessage))
		return e
	}
	e.Message = *report.Message
	if json.Unmarshal(report.Stack, &e.Stack) != nil {
		e.Stack = nil // other runtimes report lines of text
	}
	return e
}

// clip shortens s to at most size bytes without cutting a rune in two.
func clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + "…"
}
