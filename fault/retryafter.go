package fault

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest visibility timeout of SQS.
const maxRetryAfter = 12 * time.Hour

// parseRetryAfter parses the two forms of RFC 9110, section 10.2.3: seconds, or
// a date, which is relative to the given Date header, or to now if that is
// missing.
func parseRetryAfter(value, date string) time.Duration {
	value = strings.TrimSpace(value)
	seconds, err := strconv.ParseUint(value, 10, 64)
	switch {
	case err == nil:
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	case errors.Is(err, strconv.ErrRange):
		return maxRetryAfter
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(date)
	if err != nil {
		from = time.Now()
	}
	return min(max(at.Sub(from), 0), maxRetryAfter)
}
