package dynamodb

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// The maximum number of entries in one request (service quotas).
const (
	maxBatchWrites = 25
	maxBatchGets   = 100
)

type batchWriteParameters struct {
	metrics
	RequestItems map[string][]batchWrite
}

type batchWrite struct {
	PutRequest    *struct{ Item attribute.Item }
	DeleteRequest *struct{ Key attribute.Item }
}

type batchWriteResponse struct{ UnprocessedItems struct{} }

func (s *Service) batchWriteItem(p *batchWriteParameters) (batchWriteResponse, error) {
	if err := p.metrics.check("BatchWriteItem"); err != nil {
		return batchWriteResponse{}, err
	}
	n := 0
	for _, writes := range p.RequestItems {
		n += len(writes)
	}
	if n < 1 || n > maxBatchWrites {
		return batchWriteResponse{}, constraint("RequestItems", fmt.Sprintf("%d requests", n),
			fmt.Sprintf("Member must have length between 1 and %d", maxBatchWrites))
	}
	mutations, err := s.batchMutations(p.RequestItems)
	if err != nil {
		return batchWriteResponse{}, err
	}
	for _, m := range mutations {
		if _, err := s.commit(m); err != nil {
			return batchWriteResponse{}, err
		}
	}
	return batchWriteResponse{}, nil
}

func (s *Service) batchMutations(requests map[string][]batchWrite) ([]*mutation, error) {
	var all []*mutation
	for table, writes := range requests {
		for _, w := range writes {
			m, err := w.mutation(s, table)
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		}
	}
	if repeated(all) {
		return nil, attribute.Invalidf("Provided list of item keys contains duplicates")
	}
	return all, nil
}

func (w batchWrite) mutation(s *Service, table string) (*mutation, error) {
	switch {
	case w.PutRequest != nil && w.DeleteRequest == nil:
		return (&put{conditional{TableName: table}, w.PutRequest.Item}).mutation(s)
	case w.DeleteRequest != nil && w.PutRequest == nil:
		return (&deletion{conditional{TableName: table}, w.DeleteRequest.Key}).mutation(s)
	}
	return nil, attribute.Invalidf("Supplied AttributeValue has to be one of PutRequest and DeleteRequest")
}

// repeated reports whether two mutations are for the same item.
func repeated(mutations []*mutation) bool {
	type target struct {
		table *table
		key   string
	}
	seen := make(map[target]bool, len(mutations))
	for _, m := range mutations {
		seen[target{m.table, m.key}] = true
	}
	return len(seen) < len(mutations)
}

type batchGetParameters struct {
	ReturnConsumedCapacity string
	RequestItems           map[string]struct {
		projected
		Keys           []attribute.Item
		ConsistentRead bool
	}
}

type batchGetResponse struct {
	Responses       map[string][]attribute.Item
	UnprocessedKeys struct{}
}

func (s *Service) batchGetItem(p *batchGetParameters) (batchGetResponse, error) {
	if err := (metrics{ReturnConsumedCapacity: p.ReturnConsumedCapacity}).check("BatchGetItem"); err != nil {
		return batchGetResponse{}, err
	}
	n := 0
	lookups := make(map[string][]lookup, len(p.RequestItems))
	for table, request := range p.RequestItems {
		projection, err := request.projection()
		if err != nil {
			return batchGetResponse{}, err
		}
		seen := make(map[string]bool)
		for _, key := range request.Keys {
			l, err := s.newLookup(table, key, projection)
			if err != nil {
				return batchGetResponse{}, err
			}
			if seen[l.key] {
				return batchGetResponse{}, attribute.Invalidf("Provided list of item keys contains duplicates")
			}
			seen[l.key] = true
			lookups[table] = append(lookups[table], l)
		}
		n += len(request.Keys)
	}
	if n < 1 || n > maxBatchGets {
		return batchGetResponse{}, constraint("RequestItems", fmt.Sprintf("%d keys", n),
			fmt.Sprintf("Member must have length between 1 and %d", maxBatchGets))
	}
	return batchGetResponse{Responses: s.readAll(lookups)}, nil
}

// readAll returns the items that exist.
func (s *Service) readAll(lookups map[string][]lookup) map[string][]attribute.Item {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := make(map[string][]attribute.Item, len(lookups))
	for table, ls := range lookups {
		found[table] = []attribute.Item{}
		for _, l := range ls {
			if item := l.read(); item != nil {
				found[table] = append(found[table], item)
			}
		}
	}
	return found
}
