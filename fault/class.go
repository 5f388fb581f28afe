package fault

// Class says what can be done about an error.
type Class uint8

const (
	// ClassUnclassified is the zero value: no rule knows the error. It gets a
	// small budget of runs, then a person.
	ClassUnclassified Class = iota
	// ClassRetryable marks an error that may be gone at a later attempt.
	ClassRetryable
	// ClassPermanent marks an error that would be the same at every attempt.
	ClassPermanent
)

var classNames = [...]string{"unclassified", "retryable", "permanent"}

// String gives the name that logs and failure records carry.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "invalid"
}
