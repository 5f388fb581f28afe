package dynamodb

import (
	"errors"
	"maps"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type tableParameters struct{ TableName string }

type tableResponse struct {
	Table            *tableDescription `json:",omitempty"`
	TableDescription *tableDescription `json:",omitempty"`
}

type tableDescription struct {
	TableName                 string
	TableId                   string
	TableArn                  string
	TableStatus               string
	CreationDateTime          float64 // seconds since 1970
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	BillingModeSummary        *billingSummary `json:",omitempty"`
	ProvisionedThroughput     throughputDescription
	DeletionProtectionEnabled bool
	ItemCount                 int
	TableSizeBytes            int
	GlobalSecondaryIndexes    []indexDescription `json:",omitempty"`
	LocalSecondaryIndexes     []indexDescription `json:",omitempty"`
}

type billingSummary struct{ BillingMode string }

type throughputDescription struct {
	throughput
	NumberOfDecreasesToday int
}

type indexDescription struct {
	IndexName             string
	IndexArn              string
	IndexStatus           string `json:",omitempty"`
	KeySchema             []keyElement
	Projection            projection
	ProvisionedThroughput *throughputDescription `json:",omitempty"`
	ItemCount             int
	IndexSizeBytes        int
}

// describe returns the description of the table. The caller holds the mutex.
func (t *table) describe(status string) *tableDescription {
	d := &tableDescription{
		TableName: t.name, TableId: t.id, TableArn: t.arn, TableStatus: status,
		CreationDateTime:          float64(t.created.UnixMilli()) / 1000,
		AttributeDefinitions:      t.attributes,
		KeySchema:                 t.key.schema(),
		ProvisionedThroughput:     throughputDescription{throughput: t.throughput},
		DeletionProtectionEnabled: t.protected,
		ItemCount:                 len(t.items),
	}
	if t.billing == "PAY_PER_REQUEST" {
		d.BillingModeSummary = &billingSummary{t.billing}
	}
	for _, item := range t.items {
		d.TableSizeBytes += item.Size()
	}
	for _, i := range t.indexes {
		t.describeIndex(d, i, status)
	}
	return d
}

func (t *table) describeIndex(d *tableDescription, i index, status string) {
	described := indexDescription{
		IndexName: i.name, IndexArn: t.arn + "/index/" + i.name,
		KeySchema: i.key.schema(), Projection: i.projection,
	}
	for _, item := range t.items {
		if i.has(item) {
			described.ItemCount++
			described.IndexSizeBytes += t.projected(i, item).Size()
		}
	}
	if !i.global {
		d.LocalSecondaryIndexes = append(d.LocalSecondaryIndexes, described)
		return
	}
	described.IndexStatus = status
	described.ProvisionedThroughput = &throughputDescription{throughput: i.throughput}
	d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, described)
}

func (k key) schema() []keyElement {
	schema := []keyElement{{k.hash.name, "HASH"}}
	if k.sorted() {
		schema = append(schema, keyElement{k.sort.name, "RANGE"})
	}
	return schema
}

func (s *Service) describeTable(p *tableParameters) (tableResponse, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, err := s.namedTable(p.TableName)
	if err != nil {
		return tableResponse{}, err
	}
	return tableResponse{Table: t.describe("ACTIVE")}, nil
}

func (s *Service) deleteTable(p *tableParameters) (tableResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.namedTable(p.TableName)
	if err != nil {
		return tableResponse{}, err
	}
	if t.protected {
		return tableResponse{}, attribute.Invalidf("Resource cannot be deleted " +
			"as it is currently protected against deletion. Disable deletion protection first.")
	}
	delete(s.tables, p.TableName)
	return tableResponse{TableDescription: t.describe("DELETING")}, nil
}

// namedTable is table, with the error code of the operations on tables.
func (s *Service) namedTable(name string) (*table, error) {
	t, err := s.table(name)
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Code == "ResourceNotFoundException" {
		return nil, namedTableNotFound(name)
	}
	return t, err
}

// maxTables is the number of tables that ListTables returns at a time.
const maxTables = 100

type listTablesParameters struct {
	ExclusiveStartTableName string
	Limit                   *int
}

type listTablesResponse struct {
	TableNames             []string
	LastEvaluatedTableName string `json:",omitempty"`
}

func (s *Service) listTables(p *listTablesParameters) (listTablesResponse, error) {
	limit := maxTables
	if p.Limit != nil {
		limit = *p.Limit
	}
	if err := checkRange("Limit", limit, 1, maxTables); err != nil {
		return listTablesResponse{}, err
	}
	s.mu.RLock()
	names := slices.Sorted(maps.Keys(s.tables))
	s.mu.RUnlock()
	names = slices.DeleteFunc(names, func(n string) bool { return n <= p.ExclusiveStartTableName })
	if len(names) <= limit {
		return listTablesResponse{TableNames: append([]string{}, names...)}, nil
	}
	return listTablesResponse{TableNames: names[:limit], LastEvaluatedTableName: names[limit-1]}, nil
}
