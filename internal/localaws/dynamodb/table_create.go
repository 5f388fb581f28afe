package dynamodb

import (
	"fmt"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// The number of indexes that a table can have (service quotas).
const (
	maxLocalIndexes  = 5
	maxGlobalIndexes = 20
)

type attributeDefinition struct {
	AttributeName string         `rule:"required,len=1..255"`
	AttributeType attribute.Type `rule:"required,enum=B|N|S"`
}

type keyElement struct {
	AttributeName string `rule:"required,len=1..255"`
	KeyType       string `rule:"required,enum=HASH|RANGE"`
}

type projection struct {
	ProjectionType   string   `rule:"enum=ALL|INCLUDE|KEYS_ONLY"`
	NonKeyAttributes []string `json:",omitempty" rule:"len=1..20,each=len=1..255"`
}

type throughput struct {
	ReadCapacityUnits  int64 `rule:"required,long,range=1.."`
	WriteCapacityUnits int64 `rule:"required,long,range=1.."`
}

type indexParameters struct {
	IndexName             string       `rule:"required,name,len=3..255"`
	KeySchema             []keyElement `rule:"required,len=1..2,is=KeySchemaElement"`
	Projection            *projection  `rule:"required,is=Projection"`
	ProvisionedThroughput *throughput  `rule:"is=ProvisionedThroughput"`
}

// localIndexParameters are indexParameters without a throughput: a local index
// has the one of its table.
type localIndexParameters struct {
	IndexName  string       `rule:"required,name,len=3..255"`
	KeySchema  []keyElement `rule:"required,len=1..2,is=KeySchemaElement"`
	Projection *projection  `rule:"required,is=Projection"`
}

type createTableParameters struct {
	harmlessParameters

	TableName                 string                 `rule:"required,table"`
	AttributeDefinitions      []attributeDefinition  `rule:"required,is=AttributeDefinition"`
	KeySchema                 []keyElement           `rule:"required,len=1..2,is=KeySchemaElement"`
	BillingMode               string                 `rule:"enum=PROVISIONED|PAY_PER_REQUEST"`
	ProvisionedThroughput     *throughput            `rule:"is=ProvisionedThroughput"`
	GlobalSecondaryIndexes    []indexParameters      `rule:"is=GlobalSecondaryIndex"`
	LocalSecondaryIndexes     []localIndexParameters `rule:"is=LocalSecondaryIndex"`
	DeletionProtectionEnabled bool
	Tags                      []tag `rule:"is=Tag"`
}

// definition describes a table as CreateTable did.
type definition struct {
	settings

	name       string
	attributes []attributeDefinition
	key        key
	indexes    []*index
	tags       []tag
}

func (s *Service) createTable(p *createTableParameters) (tableResponse, error) {
	p.TableName = s.plainName(p.TableName)
	d, err := p.definition()
	if err != nil {
		return tableResponse{}, err
	}
	p.apply(s, &d.settings)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.tables[d.name]; ok {
		return tableResponse{}, &protocol.Error{
			Code:    "ResourceInUseException",
			Message: fmt.Sprintf("Table already exists: %s", d.name),
		}
	}
	s.created++
	t := &table{
		settings: d.settings, name: d.name, id: newID(), arn: s.arn(d.name), number: s.created, key: d.key,
		created: s.clock.Now(), attributes: d.attributes, tags: d.tags, indexes: d.indexes,
		rows: rows{Tree: keyspace.NewTree()},
	}
	if t.billing == onDemand {
		t.lastOnDemand = t.created
	}
	for _, i := range t.indexes {
		t.fill(i)
	}
	s.tables[d.name] = t
	return tableResponse{TableDescription: t.describe("CREATING")}, nil
}

func (p *createTableParameters) definition() (definition, error) {
	if err := p.check("CreateTable"); err != nil {
		return definition{}, err
	}
	d := definition{name: p.TableName, attributes: p.AttributeDefinitions, tags: p.Tags}
	d.protected = p.DeletionProtectionEnabled
	if err := p.setBilling(&d); err != nil {
		return definition{}, err
	}
	types, err := attributeTypes(p.AttributeDefinitions)
	if err != nil {
		return definition{}, err
	}
	if d.key, err = newKey(p.KeySchema, types); err != nil {
		return definition{}, err
	}
	if err := p.setIndexes(&d, types); err != nil {
		return definition{}, err
	}
	return d, d.checkAttributesUsed()
}

// The billing modes.
const (
	provisioned = "PROVISIONED"
	onDemand    = "PAY_PER_REQUEST"
)

func (p *createTableParameters) setBilling(d *definition) error {
	d.billing = orDefault(p.BillingMode, provisioned)
	switch {
	case d.billing == onDemand && p.ProvisionedThroughput != nil:
		return badParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified " +
			"when BillingMode is PAY_PER_REQUEST")
	case d.billing == onDemand:
		return nil
	case p.ProvisionedThroughput == nil:
		return badParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified " +
			"when BillingMode is PROVISIONED")
	}
	d.throughput = *p.ProvisionedThroughput
	return d.throughput.check("")
}

// maxUnits is more than the capacity units that a table can have.
const maxUnits = 1_000_000_000_000

// check checks the upper bounds; where says for which index it is, if it is for
// one.
func (t throughput) check(where string) error {
	for _, of := range []struct {
		name  string
		units int64
	}{{"ReadCapacityUnits", t.ReadCapacityUnits}, {"WriteCapacityUnits", t.WriteCapacityUnits}} {
		if of.units > maxUnits {
			return attribute.Invalidf("Given value %d for %s is out of bounds%s", of.units, of.name, where)
		}
	}
	return nil
}

func attributeTypes(definitions []attributeDefinition) (map[string]attribute.Type, error) {
	types := make(map[string]attribute.Type)
	for _, a := range definitions {
		if _, ok := types[a.AttributeName]; ok {
			return nil, badParameter("Duplicate AttributeName in AttributeDefinitions: %s", a.AttributeName)
		}
		types[a.AttributeName] = a.AttributeType
	}
	return types, nil
}

// newKey parses a key schema: a HASH element, and a RANGE element if there are
// two.
func newKey(schema []keyElement, types map[string]attribute.Type) (key, error) {
	if len(types) < len(schema) {
		return key{}, attribute.Invalidf("Invalid KeySchema: Some index key attribute have no definition")
	}
	for _, e := range schema {
		if _, ok := types[e.AttributeName]; !ok {
			return key{}, badParameter("Some index key attributes are not defined in AttributeDefinitions. "+
				"Keys: [%s], AttributeDefinitions: [%s]", joined(namesOf(schema)), joined(sortedNames(types)))
		}
	}
	if schema[0].KeyType != "HASH" {
		return key{}, attribute.Invalidf("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	if len(schema) == 2 {
		if schema[0].AttributeName == schema[1].AttributeName {
			return key{}, attribute.Invalidf("Both the Hash Key and the Range Key element " +
				"in the KeySchema have the same name")
		}
		if schema[1].KeyType != "RANGE" {
			return key{}, attribute.Invalidf("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
		}
	}
	var k key
	for i, e := range schema {
		a := keyAttribute{e.AttributeName, types[e.AttributeName]}
		if i == 0 {
			k.hash = a
		} else {
			k.sort = a
		}
	}
	return k, nil
}

func namesOf(schema []keyElement) []string {
	var names []string
	for _, e := range schema {
		names = append(names, e.AttributeName)
	}
	return names
}

func sortedNames(types map[string]attribute.Type) []string {
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkAttributesUsed returns an error if an attribute is defined but not used
// by a key.
func (d *definition) checkAttributesUsed() error {
	unused := slices.ContainsFunc(d.attributes, func(a attributeDefinition) bool {
		return !used(a.AttributeName, d.key, d.indexes)
	})
	switch {
	case !unused:
		return nil
	case len(d.indexes) == 0:
		return badParameter("Number of attributes in KeySchema does not exactly match number of attributes " +
			"defined in AttributeDefinitions")
	}
	return badParameter("Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: [%s]",
		joined(sorted(definedNames(d.attributes))), joined(sorted(keyNames(d.key, d.indexes))))
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

func used(name string, k key, indexes []*index) bool {
	return k.has(name) || slices.ContainsFunc(indexes, func(i *index) bool { return i.key.has(name) })
}

func definedNames(definitions []attributeDefinition) []string {
	var names []string
	for _, a := range definitions {
		names = append(names, a.AttributeName)
	}
	return names
}

func keyNames(k key, indexes []*index) []string {
	var names []string
	keys := []key{k}
	for _, i := range indexes {
		keys = append(keys, i.key)
	}
	for _, k := range keys {
		for _, a := range k.attributes() {
			if !slices.Contains(names, a.name) {
				names = append(names, a.name)
			}
		}
	}
	return names
}
