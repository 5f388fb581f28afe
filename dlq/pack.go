package dlq

import "github.com/sqsafe/sqsafe/internal/sqscall"

const (
	// minBytes is the least that SQS allows as a queue's MaximumMessageSize.
	minBytes = 1 << 10
	// maxBytes is what SQS allows a message, and all messages of a call together.
	maxBytes = 1 << 20
)

// packs divides the entries, in order, into as few calls as possible, and returns the
// positions for each call. An entry that is too large has a call of its own, so that its
// error affects no other. With apart no call has two entries of one message group.
func packs(entries []entry, apart bool) [][]int {
	var out [][]int
	size, groups := 0, map[string]bool{}
	for i, e := range entries {
		last := len(out) - 1
		full := last < 0 || size+e.size > maxBytes || len(out[last]) == sqscall.MaxEntries
		if full || apart && groups[e.group()] {
			out = append(out, nil)
			last++
			size, groups = 0, map[string]bool{}
		}
		out[last] = append(out[last], i)
		size += e.size
		groups[e.group()] = true
	}
	return out
}
