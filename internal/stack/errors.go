package stack

import (
	"fmt"
	"strings"
)

// Error says what is wrong in a template, where, and what to do about it.
type Error struct {
	// File is the template as the caller named it.
	File string
	// Line is 1 for the first line; 0 where no line is to blame.
	Line    int
	Message string
	// Err is the cause where there is one, such as an [io/fs.PathError].
	Err error

	elsewhere bool // the template is sound, but asks for what exists in AWS only
}

// Error gives file, line and message in one line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// listed joins names for a message; "none" for no names.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
