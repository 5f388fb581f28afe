// Package conformance holds black-box checks of SQS, DynamoDB and CloudWatch
// endpoints, as its tests. Each check makes a few requests with the clients of
// the AWS SDK and compares what happens with what AWS documents or was recorded
// to answer.
//
// Without further ado they run against the emulators of this module in memory.
// README.md says how to run them against another endpoint, and how to read the
// checks that are marked as debatable.
package conformance
