package metricmath

import "fmt"

// UnsupportedError is the error for something that CloudWatch has and this
// module does not implement.
type UnsupportedError struct {
	// What is not supported, such as "the function SEARCH".
	What string
}

func (e *UnsupportedError) Error() string { return e.What + " is not supported here" }

func unsupported(format string, args ...any) error {
	return &UnsupportedError{What: fmt.Sprintf(format, args...)}
}
