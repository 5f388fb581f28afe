package backoff

import "time"

const (
	// MaxVisibility is the longest that SQS hides a message, counted from its
	// receive: 12 hours, or 43,200 s (SQS quotas). It refuses a longer visibility
	// timeout instead of shortening it.
	MaxVisibility = 12 * time.Hour
	// VisibilityMargin is kept from MaxVisibility for the time that the call
	// takes, and because SQS counts from an earlier moment than the receiver.
	VisibilityMargin = 5 * time.Second
)

// Clamp brings d into what SQS accepts as the visibility timeout of a message
// that was received sinceReceive ago: from 0 to [MaxVisibility] less
// sinceReceive and [VisibilityMargin]. The upper bound is a whole second, so
// that a d of whole seconds stays whole. A negative sinceReceive counts as 0.
func Clamp(d, sinceReceive time.Duration) time.Duration {
	limit := (MaxVisibility - VisibilityMargin - max(sinceReceive, 0)).Truncate(time.Second)
	return max(min(d, limit), 0)
}
