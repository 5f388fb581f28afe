package cfn

import "fmt"

// Error says what is wrong in a template, where, and how to fix it.
type Error struct {
	// File is the path of the template as the caller gave it.
	File string
	// Line is counted from 1; 0 if the error is not about a line.
	Line    int
	Message string
	// Err is the cause, if there is one, such as an [io/fs.PathError].
	Err error

	// Elsewhere says that the template is valid, but needs something that exists
	// only in AWS.
	Elsewhere bool
}

// Error returns file, line and message in one line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
