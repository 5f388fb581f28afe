package deadletters

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseTime parses a time as users write it: RFC 3339, a date with or without a time in local
// time, or how long before now, such as 90m or 3d.
func ParseTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	d, err := ParseDuration(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: want a time such as 2026-11-30T18:00:00Z or 2026-11-30, "+
			"or how long ago, such as 90m or 3d", text)
	}
	return now.Add(-d), nil
}

// ParseDuration parses a duration, at least 0, that may have days: "3d" or "1d12h".
func ParseDuration(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		d, err := time.ParseDuration(text)
		if err == nil && d < 0 {
			err = fmt.Errorf("%q is negative", text)
		}
		return d, err
	}
	const mostDays = 10_000
	n, err := strconv.Atoi(days)
	if err != nil || n < 0 || n > mostDays {
		return 0, fmt.Errorf("%q is no number of days", days)
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && more < 0 {
		err = fmt.Errorf("%q is negative", rest)
	}
	return d + more, err
}
