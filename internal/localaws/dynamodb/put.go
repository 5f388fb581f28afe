package dynamodb

import (
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// maxItemBytes is the maximum size of an item, names included: 400 KB (service
// quotas).
const maxItemBytes = 400 << 10

// put holds the parameters shared by PutItem and a Put in a transaction.
type put struct {
	conditional

	Item attribute.Item `rule:"required"`
}

type putItemParameters struct {
	put
	expectations
	metrics

	ReturnValues string `rule:"enum=ALL_NEW|UPDATED_OLD|ALL_OLD|NONE|UPDATED_NEW"`
}

// writeResponse is the response of PutItem, UpdateItem and DeleteItem.
type writeResponse struct {
	Attributes       attribute.Item `json:",omitempty"`
	ConsumedCapacity *capacity      `json:",omitempty"`
}

func (s *Service) putItem(p *putItemParameters) (writeResponse, error) {
	if err := checkItemSize(p.Item); err != nil {
		return writeResponse{}, err
	}
	return s.replaceItem(&p.put, p.ReturnValues, p.expectations, p.metrics)
}

// replaceItem executes a put or delete, which can return only the old item.
func (s *Service) replaceItem(w interface {
	mutation(s *Service) (*mutation, error)
}, returnValues string, expected expectations, asked metrics) (writeResponse, error) {
	returned := orDefault(returnValues, "NONE")
	if returned != "NONE" && returned != "ALL_OLD" {
		return writeResponse{}, attribute.Invalidf("ReturnValues can only be ALL_OLD or NONE")
	}
	condition, expects, err := expected.condition()
	if err != nil {
		return writeResponse{}, err
	}
	m, err := w.mutation(s)
	if err != nil {
		return writeResponse{}, err
	}
	if expects {
		m.condition = condition
	}
	u := &usage{table: m.table}
	c, err := m.commit(u)
	if err != nil {
		return writeResponse{}, err
	}
	response := writeResponse{ConsumedCapacity: asked.report(u)}
	if returned == "ALL_OLD" {
		response.Attributes = c.old
	}
	return response, nil
}

func (p *put) mutation(s *Service) (*mutation, error) {
	if err := checkItemSize(p.Item); err != nil {
		return nil, err
	}
	m, err := p.begin()
	if err != nil {
		return nil, err
	}
	if m.table, err = s.table(p.TableName); err != nil {
		return nil, err
	}
	if err := m.table.checkScalars(m.condition.Nested()); err != nil {
		return nil, err
	}
	if err := m.table.checkItem(p.Item); err != nil {
		return nil, err
	}
	m.place = m.table.place(p.Item)
	m.apply = func(attribute.Item) (attribute.Item, error) { return p.Item, nil }
	return m, nil
}

func checkItemSize(item attribute.Item) error {
	if item.Size() > maxItemBytes {
		return attribute.Invalidf("Item size has exceeded the maximum allowed size")
	}
	return nil
}

// checkItem checks that the table can store the item.
func (t *table) checkItem(item attribute.Item) error {
	if err := t.key.checkItem(item); err != nil {
		return err
	}
	return checkIndexKeys(t.currentIndexes(), item)
}

// checkIndexKeys checks the keys of indexes. An item may lack them.
func checkIndexKeys(indexes []*index, item attribute.Item) error {
	for _, i := range indexes {
		for _, a := range i.key.attributes() {
			v := item[a.name]
			if v == nil {
				continue
			}
			if v.Type() != a.dataType {
				return badParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s",
					a.name, a.dataType, v.Type(), i.name)
			}
			n, sized := attribute.Extent(v)
			limit := maxHashBytes
			if a == i.key.sort {
				limit = maxSortBytes
			}
			if sized && n > limit {
				return badParameter("Size of %s has exceeded the maximum size limit of %d bytes. IndexName: %s, IndexKey: %s",
					map[bool]string{true: "rangekey", false: "hashkey"}[a == i.key.sort], limit, i.name, a.name)
			}
			if sized && n == 0 {
				return attribute.Invalidf("One or more parameter values are not valid. A value specified for a "+
					"secondary index key is not supported. The AttributeValue for a key attribute cannot contain an "+
					"empty %s value. IndexName: %s, IndexKey: %s", typeNames[a.dataType], i.name, a.name)
			}
		}
	}
	return nil
}
