package dlq

const (
	// minBytes is the least that SQS allows as a queue's MaximumMessageSize.
	minBytes = 1 << 10
	// maxBytes is what SQS allows a message, and all messages of a call together.
	maxBytes = 1 << 20
	// maxEntries is how many messages SQS takes in a call.
	maxEntries = 10
)

// pack is a run of entries that go in one call.
type pack struct{ from, to int }

// packs parts the entries, in their order, into as few calls as that allows. An
// entry that alone is too large has a call to itself, so that its refusal
// harms no other.
func packs(entries []entry) []pack {
	var out []pack
	size := 0
	for i, e := range entries {
		last := len(out) - 1
		if last < 0 || size+e.size > maxBytes || i-out[last].from == maxEntries {
			out = append(out, pack{from: i})
			last++
			size = 0
		}
		out[last].to = i + 1
		size += e.size
	}
	return out
}
