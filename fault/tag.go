package fault

import (
	"runtime"
	"time"
)

// Option sets a detail of a tag, or of the decision of [Table.Override] and
// [SQLState].
type Option func(*tag)

// WithReason sets the reason, a stable word in snake case; it becomes the Reason of
// the [Decision]. An empty word counts as none.
func WithReason(word string) Option { return func(t *tag) { t.reason = word } }

// Permanent tags err as one that would be the same at every attempt. It returns
// nil for nil.
//
// The tag keeps the text of err and the stack of the caller, and is found below
// any number of wrappers. Along a chain the outermost tag decides. Between the
// branches of [errors.Join], or of fmt.Errorf with several %w, a permanent tag
// decides. Your own error type is tagged if it has a method Permanent() bool or
// Retryable() bool that returns true; false has no effect.
func Permanent(err error, opts ...Option) error {
	return newTag(ClassPermanent, 0, err, opts)
}

// Retryable tags err as one that may not occur at a later attempt. It returns
// nil for nil. See [Permanent] for how tags are found.
func Retryable(err error, opts ...Option) error {
	return newTag(ClassRetryable, 0, err, opts)
}

// RetryAfter tags err as retryable, but not before d has passed. A d of 0 or
// less asks for no delay, as [Retryable] does. It returns nil for nil.
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

// maxFrames limits the stack of a tag.
const maxFrames = 32

func newTag(class Class, after time.Duration, err error, opts []Option) error {
	if err == nil {
		return nil
	}
	t := &tag{err: err, class: class, after: after, stack: make([]uintptr, maxFrames)}
	for _, opt := range opts {
		opt(t)
	}
	// Skip the frames of Callers, newTag and the exported function.
	t.stack = t.stack[:runtime.Callers(3, t.stack)]
	return t
}

func (t *tag) Error() string             { return t.err.Error() }
func (t *tag) Unwrap() error             { return t.err }
func (t *tag) Permanent() bool           { return t.class == ClassPermanent }
func (t *tag) Retryable() bool           { return t.class == ClassRetryable }
func (t *tag) RetryAfter() time.Duration { return t.after }

// Tagged reports whether any error in the chain is tagged, by one of the three
// functions or by a method of its own type.
func Tagged(err error) bool { return err != nil && decider(err, tagged) != nil }

// tagged returns the class that err itself claims, or ClassUnclassified.
func tagged(err error) Class {
	if e, ok := err.(interface{ Permanent() bool }); ok && e.Permanent() {
		return ClassPermanent
	}
	if e, ok := err.(interface{ Retryable() bool }); ok && e.Retryable() {
		return ClassRetryable
	}
	return ClassUnclassified
}

// decider returns the error in the chain whose claim decides, or nil if none
// claims a class.
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

// requestedDelay returns the delay that err asks for: the outermost of a chain
// that asks for one, the longest of several branches.
func requestedDelay(err error) time.Duration {
	if e, ok := err.(interface{ RetryAfter() time.Duration }); ok && e.RetryAfter() > 0 {
		return e.RetryAfter()
	}
	if delay := delayInResponse(err); delay > 0 {
		return delay
	}
	var longest time.Duration
	for _, below := range unwrap(err) {
		longest = max(longest, requestedDelay(below))
	}
	return longest
}
