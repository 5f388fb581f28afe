package runtimeapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrClosed is returned by Invoke after the function was closed.
var ErrClosed = errors.New("function is closed")

// Error types that Lambda itself sets.
const (
	// TypeTimeout: the function did not answer, or did not request its first
	// event, in time.
	TypeTimeout = "Sandbox.Timedout"
	// TypeExit: the process ended during an invocation or before its first
	// event.
	TypeExit = "Runtime.ExitError"
	// TypeEntrypoint: the process could not be started.
	TypeEntrypoint = "Runtime.InvalidEntrypoint"
	// TypeResponseSize: the response is larger than Lambda allows.
	TypeResponseSize = "Function.ResponseSizeTooLarge"
	// TypeUnknown: the function reported an error without a type.
	TypeUnknown = "Runtime.Unknown"
)

// FunctionError describes a failed invocation as Lambda reports it to the
// caller.
type FunctionError struct {
	// Type is the function's own error type or one of the Type constants.
	Type string
	// Message is the error message of the function or of Lambda.
	Message string
	// Stack is the stack of a panic, innermost frame first; nil if none was reported.
	Stack []Frame
	// RequestID is the request id of the invocation.
	RequestID string
	// Exited says that the process has ended.
	Exited bool
	// ExitCode is the process's exit code if it exited; -1 if a signal ended it.
	ExitCode int
	// Signal is the name of the signal that ended the process, such as
	// "killed"; empty otherwise.
	Signal string
	// Killed says that this package ended the process, for a timeout or at
	// Close.
	Killed bool
	// Starting says that the process never requested its first event.
	Starting bool
}

// Frame is one frame of a reported stack.
type Frame struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Label string `json:"label"`
}

// Error returns the type and the message.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// of sets the invocation that the error belongs to.
func (e *FunctionError) of(inv *invocation) *FunctionError {
	its := *e
	its.RequestID = inv.id
	return &its
}

func (e *FunctionError) addExit(p *process) {
	s := p.status()
	e.Exited, e.ExitCode, e.Signal, e.Killed = true, s.code, s.signal, p.killed.Load()
}

// longestMessage limits the text of an error report that is not in Lambda's
// format, since it could be a payload.
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
		e.Stack = nil // other runtimes report the stack as lines of text
	}
	return e
}

// clip shortens s to at most size bytes without splitting a rune.
func clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + "…"
}
