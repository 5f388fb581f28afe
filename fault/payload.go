package fault

import "fmt"

// DecodeError says that a payload cannot be read. It is permanent.
type DecodeError struct {
	// Err is what the decoder said.
	Err error
}

// Error puts "decode: " before the decoder's text.
func (e *DecodeError) Error() string { return fmt.Sprintf("decode: %v", e.Err) }

// Unwrap gives Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// ValidationError says that a payload can be read but breaks a rule. It is
// permanent.
type ValidationError struct {
	// Err says which rule.
	Err error
}

// Error puts "validate: " before the text of Err.
func (e *ValidationError) Error() string { return fmt.Sprintf("validate: %v", e.Err) }

// Unwrap gives Err.
func (e *ValidationError) Unwrap() error { return e.Err }
