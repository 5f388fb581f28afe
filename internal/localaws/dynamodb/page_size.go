package dynamodb

import (
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// reading counts what a page has read.
type reading struct {
	*page

	scanned int
	stored  int // bytes as they are stored, which decide where the page ends
	bytes   int // of the source, which are what is consumed
	fetched float64
}

// take counts an item and returns what the request sees of it.
func (r *reading) take(item attribute.Item) attribute.Item {
	seen := r.visible(item)
	r.scanned++
	r.bytes += seen.Size()
	r.stored += attribute.StoredSize(seen, r.key().sort.name)
	if r.whole {
		r.fetched += itemReadUnits(item, r.parameters.ConsistentRead)
		return item
	}
	return seen
}

// full reports whether the page ends after what was read. The item that reaches
// 1 MB is the last one of its page.
func (r *reading) full() bool {
	limit := r.parameters.Limit
	return r.stored >= maxPageBytes || limit != nil && r.scanned >= *limit
}

func (r *reading) usage() *usage {
	u := &usage{table: r.table, own: r.fetched}
	u.add(r.index, readUnits(r.bytes, r.parameters.ConsistentRead))
	return u
}
