package dlq

import (
	"slices"
	"sort"

	"github.com/sqsafe/sqsafe/handler"
)

// parts are the parts of a record that may be truncated, in this order. keep returns the
// record with n units of the part.
var parts = []struct {
	size func(r Record) int
	keep func(r Record, n int) Record
}{
	{
		size: func(r Record) int { return len(r.Stack) },
		keep: func(r Record, n int) Record { r.Stack = prefix(r.Stack, n); return r },
	},
	{
		size: func(r Record) int { return len(r.History.Attempts) },
		keep: Record.withAttempts,
	},
	{
		size: func(r Record) int { return len(r.Message) },
		keep: func(r Record, n int) Record { r.Message = prefix(r.Message, n); return r },
	},
	{
		size: func(r Record) int { return len(r.Types) },
		keep: func(r Record, n int) Record { r.Types = r.Types[:n]; return r },
	},
}

// truncateTo returns as much of the record as fits into limit bytes.
func (r Record) truncateTo(limit int) (string, error) {
	r.Cut = true
	for _, part := range parts {
		// A unit takes at least a byte, so more than limit of them cannot fit.
		most := min(part.size(r), max(limit, 0))
		var fitting string
		kept := sort.Search(most+1, func(n int) bool {
			s, err := part.keep(r, n).marshal()
			if err != nil || len(s) > limit {
				return true
			}
			fitting = s
			return false
		})
		if kept > 0 {
			return fitting, nil
		}
		r = part.keep(r, 0)
	}
	return "", ErrTooLarge
}

// withAttempts keeps n attempts: the first and the last n/2.
func (r Record) withAttempts(n int) Record {
	all := r.History.Attempts
	last := n / 2
	first := n - last
	r.History = handler.History{
		Attempts: slices.Concat(all[:first], all[len(all)-last:]), Dropped: r.History.Dropped + len(all) - n,
	}
	return r
}
