// Package local runs the stack of a SAM template on one machine: emulators for
// SQS and DynamoDB at one address, each function as its own Lambda binary
// behind a local Runtime API, and a poller for each SQS event.
//
// What happens comes out as a stream of [Event] values and, at the end, as a
// [Summary] that accounts for every job.
package local
