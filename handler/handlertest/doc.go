// Package handlertest helps to test functions that handle SQS messages: without AWS, without
// a socket, and without waiting.
//
//	report := handlertest.Queue{Handler: handler.JSON(charge)}.Run(t, handlertest.Message{Body: body})
//	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone)
//
// It is for functions, middleware and processors of package handler. To test a function with
// the options that it has in production, use package sqsafetest, which builds on this one.
//
// # Runs
//
// [Queue.Run] puts messages into a queue in memory and lets the function have them, batch by
// batch, until nothing is left to do. It does what SQS and Lambda do: it counts receives,
// hides messages for their visibility timeout, keeps FIFO groups in order, moves messages at
// the end of their receives, and starts the function anew when its process has died. The
// clock is that of testing/synctest, so that hours of backoff take no time. [Queue.Invoke]
// hands over one event.
//
// Both give a [RunReport] of what became of each message, with checks for what a test wants
// of it.
//
// # Fakes
//
// [Message] also makes events and messages for tests that call a handler.Processor or a
// handler.Func themselves, and [DeadLetterQueue] and [FakeQueue] stand for the queues there.
//
// # Errors
//
// A check that fails stops the test, and prints the history of all messages.
//
// # Concurrency
//
// The fakes are safe for concurrent use. A [Queue] is a value: each call has a queue of its
// own, so parallel tests may share one as far as its Handler and Options allow it.
package handlertest
