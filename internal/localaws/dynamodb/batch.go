package dynamodb

import (
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

// The limits of one request (service quotas).
const (
	maxBatchWrites = 25
	maxBatchGets   = 100
	// maxBatchBytes is how much BatchGetItem reads; the rest is returned as
	// UnprocessedKeys.
	maxBatchBytes = 16 << 20
)

type batchWriteParameters struct {
	metrics

	RequestItems map[string][]batchWrite `rule:"required,len=1..25,keys=table,values=1..25,is=WriteRequest"`
}

type batchWrite struct {
	PutRequest    *batchPut    `rule:"is=PutRequest"`
	DeleteRequest *batchDelete `rule:"is=DeleteRequest"`
}

type batchPut struct {
	Item attribute.Item `rule:"required"`
}

type batchDelete struct {
	Key attribute.Item `rule:"required"`
}

type batchWriteResponse struct {
	UnprocessedItems struct{}
	ConsumedCapacity []*capacity `json:",omitempty"`
}

func (s *Service) batchWriteItem(p *batchWriteParameters) (batchWriteResponse, error) {
	n := 0
	for _, writes := range p.RequestItems {
		n += len(writes)
	}
	if n > maxBatchWrites {
		return batchWriteResponse{}, attribute.Invalidf("Too many items requested for the BatchWriteItem call")
	}
	mutations, err := s.batchMutations(p.RequestItems)
	if err != nil {
		return batchWriteResponse{}, err
	}
	us := make(usages)
	for _, m := range mutations {
		if _, err := m.commit(us.of(m.table)); err != nil {
			return batchWriteResponse{}, err
		}
	}
	return batchWriteResponse{ConsumedCapacity: p.reportAll(us, func(*capacityUnits) {})}, nil
}

func (s *Service) batchMutations(requests map[string][]batchWrite) ([]*mutation, error) {
	var all []*mutation
	for _, table := range slices.Sorted(maps.Keys(requests)) {
		for _, w := range requests[table] {
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
		return w.put(s, table)
	case w.DeleteRequest != nil && w.PutRequest == nil:
		return (&deletion{conditional{TableName: table}, w.DeleteRequest.Key}).mutation(s)
	}
	return nil, attribute.Invalidf("Supplied AttributeValue has more than one datatypes set, " +
		"must contain exactly one of the supported datatypes")
}

// put is the mutation of a PutRequest. Here AWS says of an item without the key
// what it says of a key elsewhere.
func (w batchWrite) put(s *Service, table string) (*mutation, error) {
	p := put{conditional{TableName: table}, w.PutRequest.Item}
	if t, err := s.table(table); err == nil && p.Item.Size() <= maxItemBytes {
		for _, a := range t.key.attributes() {
			if v := p.Item[a.name]; v == nil || v.Type() != a.dataType {
				return nil, attribute.Invalidf("The provided key element does not match the schema")
			}
		}
	}
	return p.mutation(s)
}

// repeated reports whether two mutations are for the same item.
func repeated(mutations []*mutation) bool {
	type target struct {
		table   *table
		primary string
	}
	seen := make(map[target]bool, len(mutations))
	for _, m := range mutations {
		seen[target{m.table, m.place.Primary()}] = true
	}
	return len(seen) < len(mutations)
}

// batchGet is what BatchGetItem reads of one table.
type batchGet struct {
	projected
	attributesToGet

	Keys           []attribute.Item `rule:"required,len=1..100"`
	ConsistentRead bool
}

type batchGetParameters struct {
	readMetrics

	RequestItems map[string]batchGet `rule:"required,len=1..100,keys=table,is=KeysAndAttributes"`
}

type batchGetResponse struct {
	Responses        map[string][]attribute.Item
	UnprocessedKeys  map[string]unprocessed
	ConsumedCapacity []*capacity `json:",omitempty"`
}

// unprocessed is a batchGet that can be sent again.
type unprocessed struct {
	Keys                     []attribute.Item
	ConsistentRead           bool              `json:",omitempty"`
	AttributesToGet          []string          `json:",omitempty"`
	ProjectionExpression     *string           `json:",omitempty"`
	ExpressionAttributeNames map[string]string `json:",omitempty"`
}

func (s *Service) batchGetItem(p *batchGetParameters) (batchGetResponse, error) {
	n := 0
	for _, request := range p.RequestItems {
		n += len(request.Keys)
	}
	if n > maxBatchGets {
		return batchGetResponse{}, attribute.Invalidf("Too many items requested for the BatchGetItem call")
	}
	reads := make([]batchRead, 0, len(p.RequestItems))
	for _, name := range slices.Sorted(maps.Keys(p.RequestItems)) {
		read, err := s.newBatchRead(name, p.RequestItems[name])
		if err != nil {
			return batchGetResponse{}, err
		}
		reads = append(reads, read)
	}
	response := batchGetResponse{Responses: make(map[string][]attribute.Item), UnprocessedKeys: map[string]unprocessed{}}
	us, left := make(usages), maxBatchBytes
	for _, r := range reads {
		found, rest := r.read(us, &left)
		response.Responses[r.name] = found
		if len(rest) > 0 {
			response.UnprocessedKeys[r.name] = r.request.rest(rest)
		}
	}
	response.ConsumedCapacity = p.reportAll(us, func(*capacityUnits) {})
	return response, nil
}

// batchRead is a checked batchGet.
type batchRead struct {
	name    string
	request batchGet
	lookups []lookup
}

func (s *Service) newBatchRead(name string, request batchGet) (batchRead, error) {
	r := batchRead{name: name, request: request}
	projection, err := request.projection()
	if err != nil {
		return r, err
	}
	for i, key := range request.Keys {
		same := func(other attribute.Item) bool { return attribute.Equal(attribute.Map(key), attribute.Map(other)) }
		if slices.ContainsFunc(request.Keys[:i], same) {
			return r, attribute.Invalidf("Provided list of item keys contains duplicates")
		}
	}
	for _, key := range request.Keys {
		l, err := s.newLookup(name, key, projection)
		if err != nil {
			return r, err
		}
		r.lookups = append(r.lookups, l)
	}
	return r, nil
}

func (g *batchGet) projection() (expression.Projection, error) {
	if g.AttributesToGet != nil {
		return g.attributesToGet.projection()
	}
	return g.projected.projection()
}

// read returns the items that exist, and the keys that were not read because no
// bytes are left. It reads in the order of the hashes of the keys.
func (r batchRead) read(us usages, left *int) (found, rest []attribute.Item) {
	found = []attribute.Item{}
	order := make([]int, len(r.lookups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return r.lookups[a].place.Compare(r.lookups[b].place) })
	t := r.lookups[0].table
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, i := range order {
		item := r.lookups[i].read()
		if *left -= item.Size(); *left < 0 {
			rest = append(rest, r.request.Keys[i])
			continue
		}
		us.of(t).add(nil, itemReadUnits(item, r.request.ConsistentRead))
		if item != nil {
			found = append(found, r.lookups[i].projection.Of(item))
		}
	}
	return found, rest
}

func (g *batchGet) rest(keys []attribute.Item) unprocessed {
	return unprocessed{
		Keys: keys, ConsistentRead: g.ConsistentRead, AttributesToGet: g.AttributesToGet,
		ProjectionExpression: g.ProjectionExpression, ExpressionAttributeNames: g.ExpressionAttributeNames,
	}
}
