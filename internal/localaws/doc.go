// Package localaws is a strict stand-in for the parts of SQS, DynamoDB and
// CloudWatch that sqsafe uses, for tests and for work on one machine.
//
// A [Server] is one [http.Handler] with queues, tables and metrics of its own, a
// clock that can be given, and rules for faults. The clients of the AWS SDKs and the
// AWS CLI talk to it as they talk to AWS, over a listener or, with
// [Server.Transport], without any socket. What AWS refuses it refuses with the
// same error, and what it does not implement it refuses by name.
package localaws
