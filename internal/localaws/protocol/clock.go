package protocol

import "time"

// Clock is the source of time of an emulator.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine after d. The returned function
	// stops that and reports whether it did.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc calls [time.AfterFunc].
func (SystemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
