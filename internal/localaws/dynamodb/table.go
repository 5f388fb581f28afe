package dynamodb

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

// table is a table with its items. Requests on different tables do not wait for
// each other.
type table struct {
	name    string
	id      string
	arn     string
	number  int // by the order of creation; several tables are locked in this order
	created time.Time
	key     key

	mu sync.RWMutex // guards the fields below
	settings
	attributes []attributeDefinition
	timeToLive string // name of the attribute, or empty
	tags       []tag
	rows       rows
	indexes    []*index // a change replaces the list
}

// settings are what UpdateTable can change of a table itself.
type settings struct {
	billing      string
	throughput   throughput
	protected    bool
	class        string // empty if no request named it
	encryption   *encryption
	warm         *warmUnits     // nil means what AWS gives by default
	onDemand     *onDemandUnits // nil means no limits
	recovery     *recovery      // nil means that it is off
	lastOnDemand time.Time
}

// index is a secondary index: the items that have its keys, in its order. The
// table's mutex guards the rows and the throughput.
type index struct {
	name       string
	global     bool
	key        key
	projection projection
	throughput throughput
	rows       rows
}

// rows are items in order.
type rows struct {
	*keyspace.Tree

	bytes int // the sizes of all items
}

// replace stores an item in place of another one; nil means no item.
func (r *rows) replace(old, stored keyed) {
	if old.item != nil && (stored.item == nil || !old.place.Equal(stored.place)) {
		r.Delete(old.place)
	}
	if stored.item != nil {
		r.Set(stored.place, stored.item)
	}
	r.bytes += stored.size - old.size
}

// keyed is an item with its place and its size in a table or index. The zero
// value is no item.
type keyed struct {
	item  attribute.Item
	place keyspace.Place
	size  int
}

// in returns the item as it is in the table.
func (t *table) in(item attribute.Item) keyed {
	if item == nil {
		return keyed{}
	}
	return keyed{item, t.place(item), item.Size()}
}

// within returns the item as it is in an index.
func (t *table) within(i *index, item attribute.Item) keyed {
	if item == nil || !i.has(item) {
		return keyed{}
	}
	return keyed{item, t.placeIn(i, item), t.projected(i, item).Size()}
}

// placeIn returns the place of an item in an index. Items of a global index with
// equal keys are in the order of a hash of their keys in the table.
func (t *table) placeIn(i *index, item attribute.Item) keyspace.Place {
	primary := t.key.encode(item)
	if i.global {
		sort := item[t.key.sort.name] // nil if there is none
		primary = keyspace.Hash(item[t.key.hash.name], sort) + primary
	}
	return i.key.place(item, primary)
}

// place returns the place of an item in the table.
func (t *table) place(item attribute.Item) keyspace.Place {
	return t.key.place(item, t.key.encode(item))
}

// replace stores an item in place of another in the table and its indexes; nil
// means no item. The caller holds the mutex.
func (t *table) replace(old, item attribute.Item) {
	t.rows.replace(t.in(old), t.in(item))
	for _, i := range t.indexes {
		i.rows.replace(t.within(i, old), t.within(i, item))
	}
}

// fill puts the items of the table into a new index. The caller holds the mutex.
func (t *table) fill(i *index) {
	i.rows = rows{Tree: keyspace.NewTree()}
	for item := range t.rows.Ascend(keyspace.All()) {
		i.rows.replace(keyed{}, t.within(i, item))
	}
}

// has reports whether the index contains an item, that is, whether the item has
// the index's keys. Items that were stored before the index was created can have
// other values there.
func (i *index) has(item attribute.Item) bool {
	for _, a := range i.key.attributes() {
		v := item[a.name]
		if v == nil || v.Type() != a.dataType {
			return false
		}
		if n, sized := attribute.Extent(v); sized && n == 0 {
			return false
		}
	}
	return true
}

// projected returns what an index contains of an item.
func (t *table) projected(i *index, item attribute.Item) attribute.Item {
	if i.projection.ProjectionType == "ALL" {
		return item
	}
	held := source{t, i}.startKey(item)
	for _, name := range i.projection.NonKeyAttributes {
		if v, ok := item[name]; ok {
			held[name] = v
		}
	}
	return held
}

// projects reports whether an index contains an attribute.
func (t *table) projects(i *index, name string) bool {
	return i.projection.ProjectionType == "ALL" || i.key.has(name) || t.key.has(name) ||
		slices.Contains(i.projection.NonKeyAttributes, name)
}

// table returns the table of that name or ARN.
func (s *Service) table(name string) (*table, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.tables[s.plainName(name)]
	if !ok {
		return nil, tableNotFound()
	}
	return t, nil
}

// plainName returns the name of a table of which a request has the name or the
// ARN.
func (s *Service) plainName(name string) string {
	if plain, ok := strings.CutPrefix(name, s.arn("")); ok {
		return plain
	}
	return name
}

// arn returns the ARN of the table with a name.
func (s *Service) arn(name string) string {
	return "arn:aws:dynamodb:" + s.region + ":" + s.account + ":table/" + name
}

// index returns the index of that name.
func (t *table) index(name string) (*index, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, i := range t.indexes {
		if i.name == name {
			return i, nil
		}
	}
	return nil, attribute.Invalidf("The table does not have the specified index: %s", name)
}

// currentIndexes returns the indexes for a caller that does not hold the mutex.
func (t *table) currentIndexes() []*index {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.indexes
}

// lock locks tables for writing, or for reading only, always in the same order.
// The returned function unlocks them.
func lock(tables []*table, write bool) (unlock func()) {
	tables = slices.Clone(tables)
	slices.SortFunc(tables, func(a, b *table) int { return a.number - b.number })
	tables = slices.Compact(tables)
	for _, t := range tables {
		if write {
			t.mu.Lock()
		} else {
			t.mu.RLock()
		}
	}
	return func() {
		for _, t := range tables {
			if write {
				t.mu.Unlock()
			} else {
				t.mu.RUnlock()
			}
		}
	}
}
