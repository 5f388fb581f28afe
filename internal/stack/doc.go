// Package stack reads what a local run needs from a SAM template: its queues,
// its tables and the Go functions that queues invoke, by an event of type SQS
// or by an AWS::Lambda::EventSourceMapping.
//
// Templates are YAML or JSON, with the short or the long form of the intrinsic
// functions. YAML aliases and merges are expanded as SAM's tools do it. A name
// that neither CloudFormation nor SAM has is an error.
//
// Resources that exist only in AWS are skipped, with a note: other resource
// types, functions in other languages, events on queues of other stacks. In a
// function's environment, a reference to such a resource becomes a placeholder,
// which is its name. Anywhere else, a value that is needed and cannot be known
// is an error with its line.
package stack
