// Package stack reads a SAM template into what a local run of it needs: its
// queues, its tables and the Go functions that queues feed, be it by an event
// of type SQS or by an AWS::Lambda::EventSourceMapping.
//
// Templates are YAML or JSON, in the short or the long form of the intrinsic
// functions. Aliases and merges of YAML are written out as SAM's tools do it. A
// name that CloudFormation or SAM does not have is an error.
//
// What exists in AWS only is left alone, with a note: resources of other types,
// functions in other languages, events on queues of other stacks. In a function's
// environment the name of such a thing stands in for its value; anywhere else a
// value that is needed and cannot be had is an error, which names the line.
package stack
