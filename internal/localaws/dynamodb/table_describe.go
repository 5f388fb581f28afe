package dynamodb

import (
	"maps"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

type tableParameters struct {
	TableName string `rule:"required,table"`
}

type tableResponse struct {
	Table            *tableDescription `json:",omitempty"`
	TableDescription *tableDescription `json:",omitempty"`
}

type tableDescription struct {
	TableName                 string
	TableId                   string
	TableArn                  string
	TableStatus               string
	CreationDateTime          float64               `json:",omitempty"` // seconds since 1970
	AttributeDefinitions      []attributeDefinition `json:",omitempty"`
	KeySchema                 []keyElement          `json:",omitempty"`
	BillingModeSummary        *billingSummary       `json:",omitempty"`
	ProvisionedThroughput     throughputDescription
	WarmThroughput            *warmThroughput `json:",omitempty"`
	OnDemandThroughput        *onDemandUnits  `json:",omitempty"`
	TableClassSummary         *classSummary   `json:",omitempty"`
	SSEDescription            *encryption     `json:",omitempty"`
	DeletionProtectionEnabled bool
	ItemCount                 int
	TableSizeBytes            int
	GlobalSecondaryIndexes    []indexDescription `json:",omitempty"`
	LocalSecondaryIndexes     []indexDescription `json:",omitempty"`
}

type billingSummary struct {
	BillingMode                       string
	LastUpdateToPayPerRequestDateTime float64 `json:",omitempty"`
}

type classSummary struct{ TableClass string }

type throughputDescription struct {
	throughput

	NumberOfDecreasesToday int
}

// warmThroughput is what a table can take at once.
type warmThroughput struct {
	ReadUnitsPerSecond  int64
	WriteUnitsPerSecond int64
	Status              string
}

type indexDescription struct {
	IndexName             string
	IndexArn              string
	IndexStatus           string `json:",omitempty"`
	Backfilling           *bool  `json:",omitempty"`
	KeySchema             []keyElement
	Projection            projection
	ProvisionedThroughput *throughputDescription `json:",omitempty"`
	WarmThroughput        *warmThroughput        `json:",omitempty"`
	ItemCount             int
	IndexSizeBytes        int
}

// The throughput that a new table on demand can take at once (developer guide,
// "DynamoDB warm throughput").
const (
	onDemandReads  = 12_000
	onDemandWrites = 4_000
)

// warm describes what a throughput can take at once.
func (t throughput) warm() *warmThroughput {
	if t.ReadCapacityUnits == 0 {
		return &warmThroughput{onDemandReads, onDemandWrites, active}
	}
	return &warmThroughput{t.ReadCapacityUnits, t.WriteCapacityUnits, active}
}

const active = "ACTIVE"

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// describe returns the description of the table, with a status for it and its
// indexes. The caller holds the mutex.
func (t *table) describe(status string) *tableDescription {
	d := &tableDescription{
		TableName: t.name, TableId: t.id, TableArn: t.arn, TableStatus: status,
		CreationDateTime:          seconds(t.created),
		AttributeDefinitions:      t.attributes,
		KeySchema:                 t.key.schema(),
		ProvisionedThroughput:     throughputDescription{throughput: t.throughput},
		DeletionProtectionEnabled: t.protected,
		ItemCount:                 t.rows.Len(),
		TableSizeBytes:            t.rows.bytes,
	}
	if !t.lastOnDemand.IsZero() {
		d.BillingModeSummary = &billingSummary{BillingMode: t.billing}
	}
	if t.class != "" {
		d.TableClassSummary = &classSummary{t.class}
	}
	d.SSEDescription, d.OnDemandThroughput = t.encryption, t.onDemand
	if t.warm != nil {
		d.WarmThroughput = &warmThroughput{t.warm.ReadUnitsPerSecond, t.warm.WriteUnitsPerSecond, status}
		if status != active {
			d.WarmThroughput.Status = "UPDATING"
		}
	} else if status == active {
		d.WarmThroughput = t.throughput.warm()
	}
	if status == active {
		if d.BillingModeSummary != nil {
			d.BillingModeSummary.LastUpdateToPayPerRequestDateTime = seconds(t.lastOnDemand)
		}
	}
	for _, i := range t.indexes {
		described := t.describeIndex(i, status)
		if i.global {
			d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, described)
		} else {
			d.LocalSecondaryIndexes = append(d.LocalSecondaryIndexes, described)
		}
	}
	return d
}

func (t *table) describeIndex(i *index, status string) indexDescription {
	d := indexDescription{
		IndexName: i.name, IndexArn: t.arn + "/index/" + i.name,
		KeySchema: i.key.schema(), Projection: i.projection,
		ItemCount: i.rows.Len(), IndexSizeBytes: i.rows.bytes,
	}
	if !i.global {
		return d
	}
	d.IndexStatus = status
	d.ProvisionedThroughput = &throughputDescription{throughput: i.throughput}
	if status == active {
		d.WarmThroughput = i.throughput.warm()
	}
	return d
}

func (k key) schema() []keyElement {
	schema := []keyElement{{k.hash.name, "HASH"}}
	if k.sorted() {
		schema = append(schema, keyElement{k.sort.name, "RANGE"})
	}
	return schema
}

func (s *Service) describeTable(p *tableParameters) (tableResponse, error) {
	t, err := s.namedTable(p.TableName)
	if err != nil {
		return tableResponse{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return tableResponse{Table: t.describe(active)}, nil
}

func (s *Service) deleteTable(p *tableParameters) (tableResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tables[s.plainName(p.TableName)]
	if !ok {
		return tableResponse{}, namedTableNotFound(p.TableName)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.protected {
		return tableResponse{}, attribute.Invalidf("Resource cannot be deleted " +
			"as it is currently protected against deletion. Disable deletion protection first.")
	}
	delete(s.tables, t.name)
	d := t.describe("DELETING")
	d.CreationDateTime, d.AttributeDefinitions, d.KeySchema = 0, nil, nil // AWS leaves them out
	return tableResponse{TableDescription: d}, nil
}

// namedTable is table, with the error message of the operations on tables.
func (s *Service) namedTable(name string) (*table, error) {
	t, err := s.table(name)
	if err != nil {
		return nil, namedTableNotFound(name)
	}
	return t, nil
}

// maxTables is the number of tables that ListTables returns at a time.
const maxTables = 100

type listTablesParameters struct {
	ExclusiveStartTableName string `rule:"name,len=3..255"`
	Limit                   *int   `rule:"range=1..100"`
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
	s.mu.RLock()
	names := slices.Sorted(maps.Keys(s.tables))
	s.mu.RUnlock()
	names = slices.DeleteFunc(names, func(n string) bool { return n <= p.ExclusiveStartTableName })
	if len(names) <= limit {
		return listTablesResponse{TableNames: append([]string{}, names...)}, nil
	}
	return listTablesResponse{TableNames: names[:limit], LastEvaluatedTableName: names[limit-1]}, nil
}
