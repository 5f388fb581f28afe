// Package sqsafetest runs a function in a test as [sqsafe.Start] runs it in production: with
// the same options and the same environment, but with a queue, a dead-letter queue and a
// ledger in memory. It needs neither AWS nor a socket, and it does not wait.
//
//	func TestCharge(t *testing.T) {
//		q := sqsafetest.NewQueue(t, env, charge, options...) // Start(charge, options...)
//		report := q.Run(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1250}))
//		report.RequireOutcomes(t, "m1", handler.OutcomeDone)
//	}
//
// [NewQueue] makes a [Queue]. [Queue.Run] sends messages to it, invokes the function until the
// queue is empty, and reports what became of each message: done, retried and when, dead and for
// what reason. The messages and the report are those of package handlertest, which also has
// what a test needs without options and environment: [handlertest.Kill] ends the process,
// [handlertest.Replayed] sends a dead letter back.
//
// # Time
//
// [Queue.Run] uses virtual time (testing/synctest), so the function must not wait for a
// connection: it panics then, with the remedy. Give the function a fake, or use
// [Queue.RunRealTime]. [Queue.Invoke] hands over one event on the clock of its caller.
//
// # Errors
//
// [NewQueue] stops the test where Start would exit. A check that fails stops the test, and
// prints the history of all messages.
//
// # Concurrency
//
// A [Queue] is not for concurrent use; parallel tests make one each.
package sqsafetest
