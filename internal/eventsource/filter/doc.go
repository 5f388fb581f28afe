// Package filter decides which SQS messages an event source mapping hands to
// its function: the filter criteria of AWS Lambda, whose patterns are written
// in the rules of EventBridge.
//
// Of an SQS message only the body can be filtered. A pattern whose body is an
// object is for messages in JSON, one whose body is a list of rules is for
// plain text. A message in the other format does not match, as on AWS, which
// deletes it like any other that no pattern matches.
package filter
