// Package localreport lets a function report its jobs to a local host. The function writes
// JSON lines to a pipe that only this library uses, so that neither what the function
// prints nor a payload can be taken for a report.
package localreport

import (
	"encoding/json"
	"io"
	"os"
	"strconv"
	"sync"
)

const (
	// Variable is the environment variable with the file descriptor of the pipe, 3 or
	// more. It is removed from the environment when it is read: in a program that the
	// function starts, the same number may be another file.
	Variable = "SQSAFE_REPORT_FILE"
	// Hello is the message of the first line. It tells the host that outcomes follow.
	Hello = "reporting"
)

// Writer returns the pipe to the host; nil if there is none, as in Lambda. Each write must
// be one line. Writer and what it returns are safe for concurrent use.
func Writer() io.Writer { return open() }

var open = sync.OnceValue(func() io.Writer {
	text, set := os.LookupEnv(Variable)
	if !set {
		return nil
	}
	_ = os.Unsetenv(Variable) // fails for impossible names only
	number, err := strconv.Atoi(text)
	if err != nil || number < 3 {
		return nil
	}
	return begin(os.NewFile(uintptr(number), "report"))
})

// begin writes the first line to a pipe, and nothing to another kind of file.
func begin(file *os.File) io.Writer {
	if file == nil {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil
	}
	closeOnExec(file)
	if json.NewEncoder(file).Encode(map[string]string{"message": Hello}) != nil {
		return nil
	}
	return file
}
