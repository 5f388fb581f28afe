package runtimeapi

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Options describes a function as its template declares it.
type Options struct {
	// Name is the function's name; required.
	Name string
	// Binary is the path of the built function, usually named bootstrap; required.
	Binary string
	// Directory is the working directory of the process; empty means the
	// current directory.
	Directory string
	// Region is the function's AWS region; empty means us-east-1.
	Region string
	// Account is the AWS account in the function's ARN; empty means 000000000000.
	Account string
	// Environment holds the function's own variables. They override those that
	// Lambda sets, except AWS_LAMBDA_RUNTIME_API.
	Environment map[string]string
	// Timeout is the maximum duration of an invocation; 0 means 3 s, as on
	// Lambda, which allows 1 s to 900 s, and 5,400 s with a capacity provider.
	Timeout time.Duration
	// InitTimeout is the maximum time until the process requests its first
	// event; 0 means 10 s, Lambda's limit.
	InitTimeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL at Close; 0 means 500 ms,
	// as on Lambda for a function with an internal extension.
	Grace time.Duration
	// MemoryMB is reported to the function but not enforced; 0 means 128, as on
	// Lambda.
	MemoryMB int
	// Concurrency is the maximum number of processes; 0 means 1. Each runs as
	// many invocations at the same time as AWS_LAMBDA_MAX_CONCURRENCY in
	// Environment says, or one without it.
	Concurrency int
	// Output is called with each line that processes write to stdout and
	// stderr, without the line end. Calls do not overlap. Nil discards the
	// output.
	Output func(line string)
	// Report is called with each line that processes write to a pipe beside their
	// output. The variable that ReportVariable names leads them to it, by the
	// number of the file. Calls may overlap. Nil means that there is no such pipe.
	// Where a process cannot be given files, as on Windows, there is none either.
	Report         func(line string)
	ReportVariable string
	// Observe is called with the events of processes and invocations. Calls do
	// not overlap. It must not call the function. Nil means no calls.
	Observe func(Event)
}

func (o Options) withDefaults() Options {
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
	o.Timeout = cmp.Or(o.Timeout, 3*time.Second)
	o.InitTimeout = cmp.Or(o.InitTimeout, 10*time.Second)
	o.Grace = cmp.Or(o.Grace, 500*time.Millisecond)
	o.MemoryMB = cmp.Or(o.MemoryMB, 128)
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	return o
}

func (o Options) validate() error {
	switch {
	case o.Name == "":
		return errors.New("function without a name: set Name")
	case o.Binary == "":
		return fmt.Errorf("function %s has no binary: set Binary to the built file", o.Name)
	case o.Timeout < 0:
		return fmt.Errorf("function %s: timeout %s is negative: use 0 for the default", o.Name, o.Timeout)
	case o.InitTimeout < 0:
		return fmt.Errorf("function %s: init timeout %s is negative: use 0 for the default", o.Name, o.InitTimeout)
	case o.Grace < 0:
		return fmt.Errorf("function %s: grace %s is negative: use 0 for the default", o.Name, o.Grace)
	case o.MemoryMB < 0:
		return fmt.Errorf("function %s: memory of %d MB is negative: use 0 for the default", o.Name, o.MemoryMB)
	case o.Concurrency < 0:
		return fmt.Errorf("function %s: concurrency %d is negative: use 0 for the default", o.Name, o.Concurrency)
	case o.Concurrency > mostProcesses:
		return fmt.Errorf("function %s: concurrency %d is more than %d", o.Name, o.Concurrency, mostProcesses)
	case o.slotsPerProcess() < 1 || o.slotsPerProcess() > mostSlots:
		return fmt.Errorf("function %s: %s is %q: write a whole number from 1 to %d, or leave it out",
			o.Name, maxConcurrency, o.Environment[maxConcurrency], mostSlots)
	}
	return nil
}

// maxConcurrency is the variable that tells a process how many invocations it
// may run at the same time.
const maxConcurrency = "AWS_LAMBDA_MAX_CONCURRENCY"

// Bounds of what one machine may be asked to run: beyond them a number is a mistake.
const (
	mostSlots     = 10_000
	mostProcesses = 10_000
)

// slotsPerProcess returns how many invocations one process runs at the same time; 0 if
// the variable is not a number.
func (o Options) slotsPerProcess() int {
	text := o.Environment[maxConcurrency]
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func (o Options) arn() string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", o.Region, o.Account, o.Name)
}
