// Package sqsafe makes an AWS Lambda function for an SQS queue of a plain Go function. Each
// failure of a job has a defined outcome: it is retried later, dead-lettered with the
// evidence, or recognised as a duplicate; or the process crashes cleanly.
//
//	func charge(ctx context.Context, c Charge) error { … }
//
//	func main() { sqsafe.Start(charge, sqsafe.KeyField("id")) }
//
// [Start] is all that most functions need. It decodes the payload into the function's type,
// calls its method Validate if it has one, and lets each job take effect once by the ledger,
// a DynamoDB table. Its settings come from the environment, which the template of the stack
// sets; the command "sqsafe init" writes function, test and template.
//
// # What the function returns
//
// Nil means that the job is done. An error is classified by the rules of package fault: it is
// retried with backoff, or the job is dead and goes to the dead-letter queue. If the function
// knows better, it says so with fault.Permanent, fault.Retryable or fault.RetryAfter. A panic
// ends the process: finished jobs of the batch are deleted before, and the others come back.
//
// The ctx of the function ends before the invocation does. It has the key of the job, idem.Key,
// which is to be passed to each service that the function calls: a job can run twice, and takes
// effect once if the receiver honours the key.
//
// # Options
//
// An [Option] sets fields of [Options], and takes the place of an environment variable that
// says the same:
//
//	sqsafe.Start(charge, sqsafe.KeyField("id"), func(o *sqsafe.Options) { o.Concurrency = 10 })
//
// # The other packages
//
// Most programs import fault and idem beside this package, and sqsafetest in their tests.
//
//   - [github.com/sqsafe/sqsafe/fault] says what errors mean, and
//     [github.com/sqsafe/sqsafe/backoff] how long to wait.
//   - [github.com/sqsafe/sqsafe/idem] keeps a job from taking effect twice.
//   - [github.com/sqsafe/sqsafe/sqsafetest] runs the function in a test, with the same options.
//   - [github.com/sqsafe/sqsafe/worker] runs the same function in a container.
//   - [github.com/sqsafe/sqsafe/envelope] opens what SNS, EventBridge and S3 send.
//   - [github.com/sqsafe/sqsafe/logs], [github.com/sqsafe/sqsafe/metrics] and
//     [github.com/sqsafe/sqsafe/tracing] show what happens.
//   - [github.com/sqsafe/sqsafe/producer] sends jobs, and
//     [github.com/sqsafe/sqsafe/jobs] tells what became of them.
//   - [github.com/sqsafe/sqsafe/handler] runs a batch,
//     [github.com/sqsafe/sqsafe/idem/dynamo] is the store of the ledger,
//     [github.com/sqsafe/sqsafe/dlq] sends dead letters, and
//     [github.com/sqsafe/sqsafe/queue] hides and deletes messages: the parts that Start puts
//     together, for programs that do this themselves.
//
// # Errors
//
// What is missing or wrong in the environment is a [*MissingError] or an [*InvalidError], which
// names the variable and the remedy. [Start] prints all of them and exits with code 1;
// [NewProcessor] returns them.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use. The function must be too, since
// several jobs run at a time if Concurrency is above 1.
package sqsafe
