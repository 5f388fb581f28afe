package fault

// Class says whether a later attempt can help.
type Class uint8

const (
	// ClassUnclassified is the zero value: no rule matches the error. The job
	// gets a small number of runs, and is then dead-lettered for a person to
	// look at.
	ClassUnclassified Class = iota
	// ClassRetryable marks an error that may not occur at a later attempt.
	ClassRetryable
	// ClassPermanent marks an error that would be the same at every attempt.
	ClassPermanent
)

var classNames = [...]string{"unclassified", "retryable", "permanent"}

// String returns the name that is used in logs and failure records.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "invalid"
}
