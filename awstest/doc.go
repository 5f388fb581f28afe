// Package awstest runs emulators of SQS, DynamoDB and CloudWatch in a test. It needs neither
// AWS nor Docker, and starts at once.
//
//	func TestOrders(t *testing.T) {
//		aws := awstest.Start(t, nil)
//		queues := sqs.NewFromConfig(aws.Config())
//		…
//	}
//
// It is for tests of code that calls these services, also without sqsafe. Functions and workers
// must not link it.
//
// # What is emulated
//
// The emulators are those of the command "sqsafe local". They are strict: what AWS refuses is
// refused, with the same code. They pass the checks of internal/conformance of this module,
// which come from what AWS documents and from answers of AWS:
//
//   - SQS: queues and their attributes, standard and FIFO; send, receive and long polls,
//     visibility, deletion, each also in batches; deduplication and message groups; redrive
//     policies, dead-letter queues and message move tasks; tags;
//   - DynamoDB: tables with local and global indexes; items with condition, update and
//     projection expressions; queries and scans; batches and transactions; expiry;
//   - CloudWatch: metrics and their statistics, metric math, alarms and dashboards.
//
// The JSON protocols of the SDKs are spoken, also from other languages; docs/emulators.md has
// their settings. Streams, PartiQL, backups and the older query protocol are refused by name;
// of STS there is GetCallerIdentity. Access keys are not checked, and nothing is kept when the
// process ends.
//
// # Time
//
// A [Clock] lets visibility timeouts, delays and expiry pass without a wait. In a bubble of
// testing/synctest the time is that of the bubble: use [New] and [Server.Config] there,
// without [Server.URL].
//
// # Errors
//
// Errors are those of AWS, with its codes, as the clients of the SDK return them.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use.
package awstest
