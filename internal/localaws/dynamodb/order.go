package dynamodb

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// source is what a query or scan reads: a table, or one of its indexes.
type source struct {
	table *table
	index *index // nil means the table itself
}

func (s *Service) source(table string, index *string) (source, error) {
	t, err := s.lookup(table)
	if err != nil || index == nil {
		return source{table: t}, err
	}
	i, err := t.index(*index)
	return source{t, &i}, err
}

// key returns the key that orders the source.
func (f source) key() key {
	if f.index != nil {
		return f.index.key
	}
	return f.table.key
}

// startKey returns the position of an item in the source: its keys in the
// source and in the table.
func (f source) startKey(item attribute.Item) attribute.Item {
	k := f.table.key.of(item)
	maps.Copy(k, f.key().of(item))
	return k
}

// place is the position of an item in its source. Partitions are ordered by a
// hash of their key, which callers cannot use, as in AWS; items in a partition
// are ordered by the sort key.
type place struct {
	partition uint64
	hash      string
	sort      attribute.Value
	primary   string
}

func (f source) place(item attribute.Item) place {
	k := f.key()
	p := place{hash: scalarText(item[k.hash.name]), primary: f.table.key.encode(item)}
	digest := fnv.New64a()
	_, _ = digest.Write([]byte(p.hash))
	p.partition = digest.Sum64()
	if k.sorted() {
		p.sort = item[k.sort.name]
	}
	return p
}

func (p place) compare(q place) int {
	order, _ := attribute.Compare(p.sort, q.sort)
	return cmp.Or(cmp.Compare(p.partition, q.partition), strings.Compare(p.hash, q.hash),
		order, strings.Compare(p.primary, q.primary))
}

// items returns the source's items that match, in order. The caller holds the
// mutex.
func (f source) items(matches func(attribute.Item) bool) []attribute.Item {
	type placed struct {
		place
		item attribute.Item
	}
	var found []placed
	for _, item := range f.table.items {
		if (f.index == nil || f.index.has(item)) && matches(item) {
			found = append(found, placed{f.place(item), item})
		}
	}
	slices.SortFunc(found, func(a, b placed) int { return a.compare(b.place) })
	items := make([]attribute.Item, len(found))
	for i, p := range found {
		items[i] = p.item
	}
	return items
}

// visible returns what the source contains of an item of the table.
func (f source) visible(item attribute.Item) attribute.Item {
	if f.index == nil {
		return item
	}
	return f.table.projected(*f.index, item)
}

// projected returns what an index contains of an item.
func (t *table) projected(i index, item attribute.Item) attribute.Item {
	if i.projection.ProjectionType == "ALL" {
		return item
	}
	held := source{t, &i}.startKey(item)
	for _, name := range i.projection.NonKeyAttributes {
		if v, ok := item[name]; ok {
			held[name] = v
		}
	}
	return held
}
