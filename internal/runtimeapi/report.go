package runtimeapi

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// reportFile is the number of the report's file in the process: the first after
// standard input, output and error.
const reportFile = 3

// report is the pipe on which a process tells of its work beside its output. A
// nil report tells nothing.
type report struct {
	read, write *os.File
	lines       *lineWriter
	over        chan struct{} // closed when everything was read
}

func newReport(o Options) (*report, error) {
	if o.Report == nil || !passesFiles {
		return nil, nil //nolint:nilnil // nothing listens
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &report{
		read: read, write: write, lines: &lineWriter{emit: o.Report}, over: make(chan struct{}),
	}, nil
}

// pass gives the pipe to the process, which variable leads to it.
func (r *report) pass(cmd *exec.Cmd, variable string) {
	if r == nil {
		return
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, r.write)
	cmd.Env = append(cmd.Env, variable+"="+strconv.Itoa(reportFile))
}

// follow reads until the process has ended.
func (r *report) follow() {
	if r == nil {
		return
	}
	defer close(r.over)
	_, _ = io.Copy(r.lines, r.read) // ends with the process or by the deadline
	r.lines.flush()
}

// passed closes the end of the pipe that is the process's by now.
func (r *report) passed() {
	if r != nil {
		_ = r.write.Close()
	}
}

// end waits for the last lines, and not long: a child that the process left
// behind may keep the pipe open.
func (r *report) end() {
	if r == nil {
		return
	}
	_ = r.read.SetReadDeadline(time.Now().Add(outputWait))
	<-r.over
	_ = r.read.Close()
}
