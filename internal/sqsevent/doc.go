// Package sqsevent decodes the events that Lambda makes of SQS messages.
//
// Decoding the event is most of what a batch costs, and its shape is known: in
// the form that Lambda sends it is read in one pass, with one copy of the text.
// Whatever is not in that form goes to encoding/json, which decides on it, so that
// the result and the errors are always those of encoding/json.
package sqsevent
