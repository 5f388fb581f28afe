// Package filter decides which SQS messages an event source mapping passes to
// its function. It implements the filter criteria of AWS Lambda, whose patterns
// are written in the rules of EventBridge.
//
// Only the body of an SQS message can be filtered. A pattern whose body is an
// object is for messages in JSON, one whose body is a list of rules is for
// plain text. A message in the other format does not match. As on AWS, it is
// deleted like any other message that matches no pattern.
package filter
