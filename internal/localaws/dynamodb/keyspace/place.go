package keyspace

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Place is the position of an item, or a position between items. It does not change.
type Place struct {
	// hash has the first 8 bytes of the hash of the partition key, and key its bytes: two
	// keys can have the same hash.
	hash uint64
	key  string
	// sort is the sort key; nil if there is none. primary is unique for the primary key. A
	// position between items leaves out what does not matter for it.
	sort    attribute.Value
	primary string
	// edge is -1 just before the items with the members above, 1 just after them, and 0 for
	// the item itself.
	edge int
}

// NewPlace returns the place of an item with a partition key, a sort key (nil if
// there is none), and a text that is unique for its primary key in the table.
func NewPlace(partitionKey, sortKey attribute.Value, primary string) Place {
	p := partition(partitionKey)
	p.sort, p.primary = sortKey, primary
	return p
}

// hashSalt precedes the key in DynamoDB's hash. AWS does not document it: the
// emulator dynalite has found it from the order of scans.
const hashSalt = "Outliers"

func partition(key attribute.Value) Place {
	sum := Hash(key)
	return Place{hash: binary.BigEndian.Uint64([]byte(sum)), key: string(attribute.KeyBytes(key))}
}

// Hash returns DynamoDB's hash of the values of a key, 16 bytes. A nil value adds
// nothing.
func Hash(values ...attribute.Value) string {
	text := []byte(hashSalt)
	for _, v := range values {
		text = append(text, attribute.KeyBytes(v)...)
	}
	sum := md5.Sum(text)
	return string(sum[:])
}

// Primary returns the text that is unique for the primary key.
func (p Place) Primary() string { return p.primary }

// Equal reports whether two places are the same.
func (p Place) Equal(q Place) bool { return p.Compare(q) == 0 }

// Before returns the position just before p.
func (p Place) Before() Place {
	p.edge = -1
	return p
}

// After returns the position just after p.
func (p Place) After() Place {
	p.edge = 1
	return p
}

// Range is a part of a tree, between two positions.
type Range struct{ Low, High Place }

// Contains reports whether a place is in the range.
func (r Range) Contains(p Place) bool { return p.Compare(r.Low) > 0 && p.Compare(r.High) < 0 }

// All is the range of all items.
func All() Range { return Segment(0, 1) }

// Segment returns one of total parts of the hash values, all of the same size.
// total is at least 1, and index is from 0 to total-1.
func Segment(index, total int) Range {
	return Range{boundary(index, total), boundary(index+1, total)}
}

// boundary returns the position before segment i of n.
func boundary(i, n int) Place {
	if i >= n {
		return Place{hash: 1<<64 - 1, edge: 1, key: afterAnyKey}
	}
	quotient, _ := bits.Div64(uint64(i), 0, uint64(n))
	return Place{hash: quotient, edge: -1}
}

// afterAnyKey is greater than any key: partition keys have at most 2048 bytes (DynamoDB
// quotas).
var afterAnyKey = strings.Repeat("\xff", 2049)

// Partition returns the range of the items with a partition key and with sort
// keys from low to high; nil means no bound. Both bounds belong to the range.
func Partition(key, low, high attribute.Value) Range {
	p := partition(key)
	from, to := p, p
	from.sort, to.sort = low, high
	return Range{from.Before(), to.After()}
}

// Compare returns -1, 0 or 1: whether p is before q, the same, or after it. A
// position without a sort key or primary key is before or after all items that
// have its other members.
func (p Place) Compare(q Place) int {
	if order := cmp.Or(cmp.Compare(p.hash, q.hash), strings.Compare(p.key, q.key)); order != 0 {
		return order
	}
	if p.sort != nil && q.sort != nil {
		if order, _ := attribute.Compare(p.sort, q.sort); order != 0 {
			return order
		}
	}
	if p.primary != "" && q.primary != "" {
		if order := strings.Compare(p.primary, q.primary); order != 0 {
			return order
		}
	}
	return cmp.Compare(p.edge, q.edge)
}
