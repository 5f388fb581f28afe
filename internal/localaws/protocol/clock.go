package protocol

import "time"

// Clock is the time that a stand-in lives by.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine after d; the returned function
	// stops that and tells whether it did.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now is the present time.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc is [time.AfterFunc].
func (SystemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
