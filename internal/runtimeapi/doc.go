// Package runtimeapi runs a built Lambda function on this machine. It starts
// the binary as a child process, serves the Lambda Runtime API on a loopback
// port, passes events to the process and detects its end.
//
// Each process has its own listener, so the listener identifies the process of
// a request. A [Function] keeps up to [Options].Concurrency processes. What AWS
// reports as a function error is returned as a [*FunctionError]: an error that
// the function returned, a panic, a timeout, a process that ended during an
// invocation, a process that never requested its first event. After an exit or
// a timeout the next invocation gets a new process.
//
// A process gets one event after another, or several at the same time if its
// environment sets AWS_LAMBDA_MAX_CONCURRENCY. In that case a timeout, a crash
// and an exit end all invocations of the process, each with its own error. An
// error that the function reports, and a panic after which the process still
// runs for a while, end only their own invocation.
//
// Unlike Lambda, nothing freezes a process between two invocations.
package runtimeapi
