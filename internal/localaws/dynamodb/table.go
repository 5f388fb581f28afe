package dynamodb

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// table has a definition, which never changes, and items, which the service's
// mutex guards.
type table struct {
	definition
	id      string
	arn     string
	created time.Time

	timeToLive string // name of the attribute, or empty
	items      map[string]attribute.Item
}

// definition describes a table as CreateTable did.
type definition struct {
	name       string
	attributes []attributeDefinition
	key        key
	indexes    []index
	billing    string
	throughput throughput
	protected  bool
}

// index is a secondary index. It stores no items: it is a view of the table.
type index struct {
	name       string
	global     bool
	key        key
	projection projection
	throughput throughput
}

// has reports whether the index contains an item, that is, whether the item has
// the index's keys.
func (i index) has(item attribute.Item) bool {
	return item[i.key.hash.name] != nil && (!i.key.sorted() || item[i.key.sort.name] != nil)
}

// table returns the table of that name. The caller holds the mutex.
func (s *Service) table(name string) (*table, error) {
	if err := checkName("TableName", name); err != nil {
		return nil, err
	}
	t, ok := s.tables[name]
	if !ok {
		return nil, tableNotFound()
	}
	return t, nil
}

// lookup is table for a caller that does not hold the mutex.
func (s *Service) lookup(name string) (*table, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.table(name)
}

func (t *table) index(name string) (index, error) {
	for _, i := range t.indexes {
		if i.name == name {
			return i, nil
		}
	}
	return index{}, attribute.Invalidf("The table does not have the specified index: %s", name)
}

// checkName checks the name of a table or index.
func checkName(member, name string) error {
	if len(name) < 3 || len(name) > 255 {
		return constraint(member, name, "Member must have length between 3 and 255")
	}
	for _, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '_' && c != '-' && c != '.' {
			return constraint(member, name, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
		}
	}
	return nil
}
