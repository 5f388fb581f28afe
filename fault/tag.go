package fault

import (
	"runtime"
	"time"
)

// Option adds to a tag, or to what [Table.Override] and [SQLState] decide.
type Option func(*tag)

// Reason names why, as a stable word in snake case; it becomes the Reason of
// the [Decision]. An empty word counts as none.
func Reason(word string) Option { return func(t *tag) { t.reason = word } }

// Permanent tags err as the same at every attempt. It gives nil for nil.
//
// The tag keeps the text of err and the stack of the caller, and is found below
// any number of wrappers. Along a chain the outermost tag decides. Between the
// branches of [errors.Join], or of fmt.Errorf with several %w, a permanent tag
// decides. An error type of one's own is tagged by a method Permanent() bool or
// Retryable() bool that returns true; false says nothing.
func Permanent(err error, opts ...Option) error {
	return newTag(ClassPermanent, 0, err, opts)
}

// Retryable tags err as one that may be gone at a later attempt. It gives nil
// for nil. See [Permanent] for how tags are found.
func Retryable(err error, opts ...Option) error {
	return newTag(ClassRetryable, 0, err, opts)
}

// RetryAfter tags err as retryable, not before d has passed. A d of 0 or less
// names no delay, as [Retryable] does. It gives nil for nil.
func RetryAfter(d time.Duration, err error, opts ...Option) error {
	return newTag(ClassRetryable, max(d, 0), err, opts)
}

// tag is the error that the three functions above return.
type tag struct {
	err    error
	class  Class
	reason string
	after  time.Duration
	stack  []uintptr
}

// maxFrames bounds the stack of a tag.
const maxFrames = 32

func newTag(class Class, after time.Duration, err error, opts []Option) error {
	if err == nil {
		return nil
	}
	t := &tag{err: err, class: class, after: after, stack: make([]uintptr, maxFrames)}
	for _, opt := range opts {
		opt(t)
	}
	// Skipped: Callers, newTag, and the exported function.
	t.stack = t.stack[:runtime.Callers(3, t.stack)]
	return t
}

func (t *tag) Error() string             { return t.err.Error() }
func (t *tag) Unwrap() error             { return t.err }
func (t *tag) Permanent() bool           { return t.class == ClassPermanent }
func (t *tag) Retryable() bool           { return t.class == ClassRetryable }
func (t *tag) RetryAfter() time.Duration { return t.after }

// Tagged tells whether any error in the chain is tagged, by one of the three
// functions or by a method of its own type.
func Tagged(err error) bool { return err != nil && decider(err, tagged) != nil }

// tagged gives the class that err itself claims, [ClassUnclassified] if none.
func tagged(err error) Class {
	if e, ok := err.(interface{ Permanent() bool }); ok && e.Permanent() {
		return ClassPermanent
	}
	if e, ok := err.(interface{ Retryable() bool }); ok && e.Retryable() {
		return ClassRetryable
	}
	return ClassUnclassified
}

// decider finds the error in the chain whose claim counts; nil if none makes one.
func decider(err error, claim func(error) Class) error {
	if claim(err) != ClassUnclassified {
		return err
	}
	var found error
	for _, below := range unwrap(err) {
		switch d := decider(below, claim); {
		case d == nil:
		case claim(d) == ClassPermanent:
			return d
		case found == nil:
			found = d
		}
	}
	return found
}

// requestedDelay is the delay that err asks for: along a chain the outermost
// that names one, between branches the longest.
func requestedDelay(err error) time.Duration {
	if e, ok := err.(interface{ RetryAfter() time.Duration }); ok && e.RetryAfter() > 0 {
		return e.RetryAfter()
	}
	var longest time.Duration
	for _, below := range unwrap(err) {
		longest = max(longest, requestedDelay(below))
	}
	return longest
}
