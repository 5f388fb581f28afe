package backoff

import "time"

// Profile is the interface of all profiles: [Exponential], [Stepped] and
// [Constant].
type Profile interface {
	// Delay returns the delay after failure number attempt, counted from 1.
	Delay(attempt int, random func() float64) time.Duration
	// Attempts returns the maximum number of runs of a job, the first included.
	Attempts() int
	// Validate returns a *FieldError for every invalid field, joined, or nil.
	Validate() error
}

// Named returns the profile with this name: "exponential" for [Exponential] or
// "stepped" for [Stepped], with additive jitter of the given share. A jitter or
// attempts of 0 means the profile's default. The error, a [*FieldError] or
// several joined, says which of the three arguments is invalid.
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
