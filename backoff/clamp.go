package backoff

import "time"

const (
	// MaxVisibility is the longest visibility timeout of a message, counted
	// from when the message was received: 12 hours, or 43,200 s (SQS quotas).
	// SQS refuses a longer visibility timeout; it does not shorten it.
	MaxVisibility = 12 * time.Hour
	// VisibilityMargin is subtracted from MaxVisibility. It covers the time
	// that the call takes, and the fact that SQS starts counting before the
	// receiver does.
	VisibilityMargin = 5 * time.Second
)

// Clamp limits d to what SQS accepts as the visibility timeout of a message
// that was received sinceReceive ago: from 0 to [MaxVisibility] less
// sinceReceive and [VisibilityMargin]. The upper bound is a whole second, so
// that a d of whole seconds stays whole. A negative sinceReceive counts as 0.
func Clamp(d, sinceReceive time.Duration) time.Duration {
	limit := (MaxVisibility - VisibilityMargin - max(sinceReceive, 0)).Truncate(time.Second)
	return max(min(d, limit), 0)
}
