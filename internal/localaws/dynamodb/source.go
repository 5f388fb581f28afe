package dynamodb

import (
	"maps"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

// source is what a query or scan reads: a table, or one of its indexes.
type source struct {
	table *table
	index *index // nil means the table itself
}

func (s *Service) source(table string, index *string) (source, error) {
	t, err := s.table(table)
	if err != nil || index == nil {
		return source{table: t}, err
	}
	i, err := t.index(*index)
	return source{t, i}, err
}

// key returns the key that orders the source.
func (f source) key() key {
	if f.index != nil {
		return f.index.key
	}
	return f.table.key
}

// rows returns the items of the source in order. The caller holds the table's
// mutex while it reads them.
func (f source) rows() *keyspace.Tree {
	if f.index != nil {
		return f.index.rows.Tree
	}
	return f.table.rows.Tree
}

// startKey returns the position of an item in the source: its keys in the
// source and in the table.
func (f source) startKey(item attribute.Item) attribute.Item {
	k := f.table.key.of(item)
	maps.Copy(k, f.key().of(item))
	return k
}

// place returns the place of an item or a start key in the source.
func (f source) place(item attribute.Item) keyspace.Place {
	if f.index != nil {
		return f.table.placeIn(f.index, item)
	}
	return f.table.place(item)
}

// visible returns what the source contains of an item of the table.
func (f source) visible(item attribute.Item) attribute.Item {
	if f.index == nil {
		return item
	}
	return f.table.projected(f.index, item)
}
