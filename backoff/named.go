package backoff

import "time"

// Profile is what all profiles have in common: [Exponential], [Stepped] and
// [Constant].
type Profile interface {
	// Delay is the wait after the failure with this number, counted from 1.
	Delay(attempt int, random func() float64) time.Duration
	// Attempts is how many runs a job gets, the first included.
	Attempts() int
	// Validate gives a *FieldError for every field that cannot be used, joined.
	Validate() error
}

// Named gives the profile that a setting names: "exponential" for [Exponential]
// or "stepped" for [Stepped], with additive jitter of the given share. A jitter
// or attempts of 0 means the profile's default. The error, a [*FieldError] or
// several joined, says which of the three cannot be used.
//
// [Constant] has no name, because it has no default interval.
func Named(name string, jitter float64, attempts int) (Profile, error) {
	var profile Profile
	switch name {
	case "exponential":
		profile = Exponential{Jitter: jitter, MaxAttempts: attempts}
	case "stepped":
		profile = Stepped{Jitter: jitter, MaxAttempts: attempts}
	default:
		return nil, &FieldError{
			Field: "profile", Value: name, Problem: "there is none of this name", Remedy: "set exponential or stepped",
		}
	}
	if err := profile.Validate(); err != nil {
		return nil, err
	}
	return profile, nil
}
