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
	Item attribute.Item
}

type putItemParameters struct {
	put
	metrics
	ReturnValues string
}

// writeResponse is the response of PutItem, UpdateItem and DeleteItem.
type writeResponse struct {
	Attributes attribute.Item `json:",omitempty"`
}

func (s *Service) putItem(p *putItemParameters) (writeResponse, error) {
	if err := p.metrics.check("PutItem"); err != nil {
		return writeResponse{}, err
	}
	return s.replaceItem(&p.put, p.ReturnValues)
}

// replaceItem executes a put or delete, which can return only the old item.
func (s *Service) replaceItem(w interface {
	mutation(s *Service) (*mutation, error)
}, returnValues string) (writeResponse, error) {
	returned, err := oneOf("ReturnValues", returnValues, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
	if err != nil {
		return writeResponse{}, err
	}
	if returned != "NONE" && returned != "ALL_OLD" {
		return writeResponse{}, attribute.Invalidf("ReturnValues can only be ALL_OLD or NONE")
	}
	m, err := w.mutation(s)
	if err != nil {
		return writeResponse{}, err
	}
	c, err := s.commit(m)
	if err != nil || returned == "NONE" {
		return writeResponse{}, err
	}
	return writeResponse{c.old}, nil
}

func (p *put) mutation(s *Service) (*mutation, error) {
	m, scope, err := p.begin()
	if err != nil {
		return nil, err
	}
	if err := scope.Close(); err != nil {
		return nil, err
	}
	if m.table, err = s.lookup(p.TableName); err != nil {
		return nil, err
	}
	if err := m.table.checkItem(p.Item); err != nil {
		return nil, err
	}
	m.key = m.table.key.encode(p.Item)
	m.apply = func(attribute.Item) (attribute.Item, error) { return p.Item, nil }
	return m, nil
}

// checkItem checks that the table can store the item.
func (t *table) checkItem(item attribute.Item) error {
	if err := t.key.checkItem(item); err != nil {
		return err
	}
	if item.Size() > maxItemBytes {
		return attribute.Invalidf("Item size has exceeded the maximum allowed size")
	}
	return t.checkIndexKeys(item)
}

// checkIndexKeys checks the keys of indexes. An item may lack them.
func (t *table) checkIndexKeys(item attribute.Item) error {
	for _, i := range t.indexes {
		for _, a := range i.key.attributes() {
			v := item[a.name]
			if v == nil {
				continue
			}
			if v.Type() != a.dataType {
				return badParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s",
					a.name, a.dataType, v.Type(), i.name)
			}
			if n, ok := attribute.Extent(v); ok && n == 0 {
				return attribute.Invalidf("One or more parameter values are not valid. A value specified for a "+
					"secondary index key is not supported. The AttributeValue for a key attribute cannot contain an "+
					"empty %s value. IndexName: %s, IndexKey: %s", typeNames[a.dataType], i.name, a.name)
			}
		}
	}
	return nil
}
