package fault

import "fmt"

// DecodeError says that a payload cannot be decoded. It is permanent.
type DecodeError struct {
	// Err is the error of the decoder.
	Err error
}

// Error returns the decoder's text after "decode: ".
func (e *DecodeError) Error() string { return fmt.Sprintf("decode: %v", e.Err) }

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// ValidationError says that a payload can be decoded but is invalid. It is
// permanent.
type ValidationError struct {
	// Err says which rule the payload breaks.
	Err error
}

// Error returns the text of Err after "validate: ".
func (e *ValidationError) Error() string { return fmt.Sprintf("validate: %v", e.Err) }

// Unwrap returns Err.
func (e *ValidationError) Unwrap() error { return e.Err }
