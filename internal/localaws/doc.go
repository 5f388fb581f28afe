// Package localaws is a strict in-memory emulator of the parts
// of SQS, DynamoDB and CloudWatch that sqsafe uses, and of GetCallerIdentity. It
// is for tests and for development on one machine.
//
// A [Server] is one [http.Handler] with its own queues, tables and metrics. Its
// clock can be replaced, and faults can be injected. Clients of the AWS SDKs
// and the AWS CLI use it like AWS, through a listener or, with
// [Server.Transport], without a socket. A request that AWS refuses gets the
// same error as from AWS. An operation that the emulator does not have is refused
// with an error that names it.
package localaws
