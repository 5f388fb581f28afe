package deadletters

import (
	"cmp"
	"slices"
	"strings"
)

// Sort puts letters into the order in which they are sent back: in a FIFO queue by group,
// and in a group by sequence number; else by when the jobs were first sent.
func Sort(letters []*Letter, fifo bool) {
	slices.SortStableFunc(letters, func(a, b *Letter) int {
		if fifo {
			return cmp.Or(strings.Compare(a.Group, b.Group), compareSequences(a.Sequence, b.Sequence),
				strings.Compare(a.ID, b.ID))
		}
		return cmp.Or(a.Sent.Compare(b.Sent), a.Arrived.Compare(b.Arrived), strings.Compare(a.ID, b.ID))
	})
}

// compareSequences compares sequence numbers, which have up to 20 digits and more than an
// int64 can hold.
func compareSequences(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
