// Package runtimeapi runs a built Lambda function on this machine: it starts
// the binary as a child process, offers it the Lambda Runtime API on a loopback
// port, hands it events and sees it die.
//
// Each process has a listener of its own, so a request tells which process it
// comes from. A [Function] keeps up to [Options].Concurrency processes. What
// AWS reports as a function error comes back as a [*FunctionError]: an error
// that the function returned, a panic, a timeout, a process that ended in the
// middle of an invocation, a process that never asked for its first event.
// After an exit or a timeout the next invocation gets a fresh process.
//
// A process gets one event after another, or as many at a time as its
// environment names in AWS_LAMBDA_MAX_CONCURRENCY. Then a timeout, a crash and
// an exit end all of its invocations, each with an error of its own; an error
// that the function reports, and a panic that it survives for a while, end only
// their own.
//
// Unlike Lambda, nothing freezes a process between two invocations.
package runtimeapi
