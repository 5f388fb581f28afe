// Package stack reads a SAM template into what a local run of it needs: its
// queues, its tables and the functions that queues feed.
//
// Templates are YAML or JSON, in the short or the long form of the intrinsic
// functions. What exists in AWS only is left alone, with a note, unless a value
// that is needed depends on it.
package stack
