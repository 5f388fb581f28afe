package fault

import "iter"

// unwrap returns the errors directly below err: one for a plain wrapper,
// several for a join.
func unwrap(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if below := e.Unwrap(); below != nil {
			return []error{below}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// chain iterates over err and everything below it, outermost first. It visits
// each branch of a join to its end before the next.
func chain(err error) iter.Seq[error] {
	return func(yield func(error) bool) { walk(err, yield) }
}

// walk reports whether yield accepted all errors. Unlike unwrap it allocates
// nothing: every rule walks every error.
func walk(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			if !walk(below, yield) {
				return false
			}
		}
	}
	return true
}
