package dynamodb

import (
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// The bytes that one capacity unit reads or writes (developer guide, "Read and
// write operations").
const (
	readUnitBytes  = 4 << 10
	writeUnitBytes = 1 << 10
)

// metrics are the parameters that ask for statistics about a request.
type metrics struct {
	readMetrics

	// ReturnItemCollectionMetrics is accepted, but no metrics are returned: they
	// are estimates of sizes that limit nothing here.
	ReturnItemCollectionMetrics string `rule:"enum=SIZE|NONE"`
}

type readMetrics struct {
	ReturnConsumedCapacity string `rule:"enum=INDEXES|TOTAL|NONE"`
}

// usage counts the capacity units that a request consumes of one table.
type usage struct {
	table   *table
	own     float64
	indexes map[*index]float64
}

func (u *usage) add(i *index, units float64) {
	if i == nil {
		u.own += units
		return
	}
	if u.indexes == nil {
		u.indexes = make(map[*index]float64)
	}
	u.indexes[i] += units
}

// readUnits returns the units for reading some bytes: half a unit for each 4 KB
// if the read is not consistent.
func readUnits(bytes int, consistent bool) float64 {
	units := float64((bytes + readUnitBytes - 1) / readUnitBytes)
	if !consistent {
		units /= 2
	}
	return units
}

// itemReadUnits is readUnits of one item, or of a missing one, which costs as
// much as a small one.
func itemReadUnits(item attribute.Item, consistent bool) float64 {
	return readUnits(max(1, item.Size()), consistent)
}

func writeUnits(bytes int) float64 {
	return float64((max(1, bytes) + writeUnitBytes - 1) / writeUnitBytes)
}

// wrote adds the units of a change, multiplied by factor. The caller holds the
// table's mutex.
func (u *usage) wrote(c change, factor float64) {
	u.add(nil, factor*writeUnits(max(c.old.Size(), c.new.Size())))
	for _, i := range u.table.indexes {
		if units := u.table.indexUnits(i, c); units > 0 {
			u.add(i, factor*units)
		}
	}
}

// indexUnits returns the units that a change consumes of an index: none if the
// index does not change, those of the larger item if its place stays the same,
// and those of a deletion and an insertion if not.
func (t *table) indexUnits(i *index, c change) float64 {
	before, after := t.within(i, c.old), t.within(i, c.new)
	switch {
	case before.item == nil && after.item == nil:
		return 0
	case before.item == nil:
		return writeUnits(after.size)
	case after.item == nil:
		return writeUnits(before.size)
	case !before.place.Equal(after.place):
		return writeUnits(before.size) + writeUnits(after.size)
	case attribute.Equal(attribute.Map(t.projected(i, c.old)), attribute.Map(t.projected(i, c.new))):
		return 0
	}
	return writeUnits(max(before.size, after.size))
}

type capacityUnits struct {
	CapacityUnits      float64
	ReadCapacityUnits  *float64 `json:",omitempty"`
	WriteCapacityUnits *float64 `json:",omitempty"`
}

// capacity is the ConsumedCapacity of a response.
type capacity struct {
	capacityUnits

	TableName              string
	Table                  *capacityUnits           `json:",omitempty"`
	GlobalSecondaryIndexes map[string]capacityUnits `json:",omitempty"`
	LocalSecondaryIndexes  map[string]capacityUnits `json:",omitempty"`
}

// report returns what a response says of the usage, or nil if the request does
// not ask for it.
func (m readMetrics) report(u *usage) *capacity { return m.reportAs(u, func(*capacityUnits) {}) }

// reportAs is report for a response that also says whether units are for reads
// or for writes.
func (m readMetrics) reportAs(u *usage, split func(*capacityUnits)) *capacity {
	if m.ReturnConsumedCapacity != "TOTAL" && m.ReturnConsumedCapacity != "INDEXES" {
		return nil
	}
	units := func(n float64) capacityUnits {
		c := capacityUnits{CapacityUnits: n}
		split(&c)
		return c
	}
	total := u.own
	for _, n := range u.indexes {
		total += n
	}
	c := &capacity{capacityUnits: units(total), TableName: u.table.name}
	if m.ReturnConsumedCapacity == "TOTAL" {
		return c
	}
	own := units(u.own)
	c.Table = &own
	for i, n := range u.indexes {
		into := &c.LocalSecondaryIndexes
		if i.global {
			into = &c.GlobalSecondaryIndexes
		}
		if *into == nil {
			*into = make(map[string]capacityUnits)
		}
		(*into)[i.name] = units(n)
	}
	return c
}

func asReads(c *capacityUnits)  { n := c.CapacityUnits; c.ReadCapacityUnits = &n }
func asWrites(c *capacityUnits) { n := c.CapacityUnits; c.WriteCapacityUnits = &n }

// usages is the usage of several tables.
type usages map[*table]*usage

func (us usages) of(t *table) *usage {
	if us[t] == nil {
		us[t] = &usage{table: t}
	}
	return us[t]
}

// reportAll returns the capacities in the order of the tables' creation, or nil.
func (m readMetrics) reportAll(us usages, split func(*capacityUnits)) []*capacity {
	var all []*capacity
	tables := slices.SortedFunc(maps.Keys(us), func(a, b *table) int { return a.number - b.number })
	for _, t := range tables {
		if c := m.reportAs(us[t], split); c != nil {
			all = append(all, c)
		}
	}
	return all
}
