package keyspace

import (
	"iter"

	"github.com/tidwall/btree"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// Entry is an item at its place. It does not change once it is in a tree.
type Entry struct {
	Place

	Item attribute.Item
}

// Tree holds entries in order, at most one for each place. It is safe for
// concurrent reads. While it is changed, nothing else may use it, and it must not
// be changed while a range is read.
type Tree struct{ entries *btree.BTreeG[*Entry] }

// NewTree returns an empty tree.
func NewTree() *Tree {
	less := func(a, b *Entry) bool { return a.Compare(b.Place) < 0 }
	return &Tree{btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

// Len returns the number of entries.
func (t *Tree) Len() int { return t.entries.Len() }

// Set puts an item at a place and returns the item that was there before, or
// nil.
func (t *Tree) Set(p Place, item attribute.Item) attribute.Item {
	old, ok := t.entries.Set(&Entry{p, item})
	if !ok {
		return nil
	}
	return old.Item
}

// Delete removes the item at a place and returns it, or nil.
func (t *Tree) Delete(p Place) attribute.Item {
	old, ok := t.entries.Delete(&Entry{Place: p})
	if !ok {
		return nil
	}
	return old.Item
}

// Get returns the item at a place, or nil.
func (t *Tree) Get(p Place) attribute.Item {
	e, ok := t.entries.Get(&Entry{Place: p})
	if !ok {
		return nil
	}
	return e.Item
}

// Ascend returns the items of a range from its low to its high end.
func (t *Tree) Ascend(r Range) iter.Seq[attribute.Item] {
	return func(yield func(attribute.Item) bool) {
		t.entries.Ascend(&Entry{Place: r.Low}, func(e *Entry) bool {
			return e.Compare(r.High) < 0 && yield(e.Item)
		})
	}
}

// Descend returns the items of a range from its high to its low end.
func (t *Tree) Descend(r Range) iter.Seq[attribute.Item] {
	return func(yield func(attribute.Item) bool) {
		t.entries.Descend(&Entry{Place: r.High}, func(e *Entry) bool {
			return e.Compare(r.Low) > 0 && yield(e.Item)
		})
	}
}
