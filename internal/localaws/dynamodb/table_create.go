package dynamodb

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type attributeDefinition struct {
	AttributeName string
	AttributeType attribute.Type
}

type keyElement struct{ AttributeName, KeyType string }

type projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

type throughput struct{ ReadCapacityUnits, WriteCapacityUnits int64 }

type indexParameters struct {
	IndexName             string
	KeySchema             []keyElement
	Projection            projection
	ProvisionedThroughput *throughput
}

type createTableParameters struct {
	TableName                 string
	AttributeDefinitions      []attributeDefinition
	KeySchema                 []keyElement
	BillingMode               string
	ProvisionedThroughput     *throughput
	GlobalSecondaryIndexes    []indexParameters
	LocalSecondaryIndexes     []indexParameters
	DeletionProtectionEnabled bool
}

func (s *Service) createTable(p *createTableParameters) (tableResponse, error) {
	d, err := p.definition()
	if err != nil {
		return tableResponse{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.tables[d.name]; ok {
		return tableResponse{}, &protocol.Error{
			Code:    "ResourceInUseException",
			Message: fmt.Sprintf("Table already exists: %s", d.name),
		}
	}
	t := &table{
		definition: d,
		id:         rand.Text(),
		arn:        fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", s.region, s.account, d.name),
		created:    s.clock.Now(),
		items:      make(map[string]attribute.Item),
	}
	s.tables[d.name] = t
	return tableResponse{TableDescription: t.describe("CREATING")}, nil
}

func (p *createTableParameters) definition() (definition, error) {
	if err := checkName("TableName", p.TableName); err != nil {
		return definition{}, err
	}
	d := definition{name: p.TableName, attributes: p.AttributeDefinitions, protected: p.DeletionProtectionEnabled}
	if err := p.setBilling(&d); err != nil {
		return definition{}, err
	}
	types, err := p.attributeTypes()
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

func (p *createTableParameters) setBilling(d *definition) (err error) {
	d.billing, err = oneOf("BillingMode", p.BillingMode, "PROVISIONED", "PAY_PER_REQUEST")
	switch {
	case err != nil:
		return err
	case d.billing == "PAY_PER_REQUEST" && p.ProvisionedThroughput != nil:
		return badParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified " +
			"when BillingMode is PAY_PER_REQUEST")
	case d.billing == "PAY_PER_REQUEST":
		return nil
	case p.ProvisionedThroughput == nil:
		return badParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified " +
			"when BillingMode is PROVISIONED")
	}
	d.throughput = *p.ProvisionedThroughput
	return d.throughput.check()
}

func (t throughput) check() error {
	if t.ReadCapacityUnits < 1 || t.WriteCapacityUnits < 1 {
		return badParameter("ReadCapacityUnits and WriteCapacityUnits must be at least 1")
	}
	return nil
}

// keyTypes are the types that a key attribute can have.
var keyTypes = []attribute.Type{attribute.TypeString, attribute.TypeNumber, attribute.TypeBinary}

func (p *createTableParameters) attributeTypes() (map[string]attribute.Type, error) {
	types := make(map[string]attribute.Type)
	for _, a := range p.AttributeDefinitions {
		if !slices.Contains(keyTypes, a.AttributeType) {
			return nil, constraint("AttributeType", string(a.AttributeType),
				"Member must satisfy enum value set: [B, N, S]")
		}
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
	if len(schema) < 1 || len(schema) > 2 {
		return key{}, constraint("KeySchema", fmt.Sprint(schema), "Member must have length between 1 and 2")
	}
	var k key
	for i, e := range schema {
		want, into := "HASH", &k.hash
		if i == 1 {
			want, into = "RANGE", &k.sort
		}
		if e.KeyType != want {
			return key{}, attribute.Invalidf("Invalid KeySchema: element %d (%s) is %s and must be %s",
				i+1, e.AttributeName, e.KeyType, want)
		}
		dataType, ok := types[e.AttributeName]
		if !ok {
			return key{}, badParameter("Some index key attributes are not defined in AttributeDefinitions. "+
				"Keys: [%s]", e.AttributeName)
		}
		*into = keyAttribute{e.AttributeName, dataType}
	}
	if k.hash.name == k.sort.name {
		return key{}, attribute.Invalidf("Both the Hash Key and the Range Key element " +
			"in the KeySchema have the same name")
	}
	return k, nil
}

func (p *createTableParameters) setIndexes(d *definition, types map[string]attribute.Type) error {
	for i, in := range slices.Concat(p.GlobalSecondaryIndexes, p.LocalSecondaryIndexes) {
		ix, err := in.index(types)
		if err != nil {
			return err
		}
		ix.global = i < len(p.GlobalSecondaryIndexes)
		if !ix.global && (ix.key.hash != d.key.hash || !ix.key.sorted() || !d.key.sorted()) {
			return badParameter("a local secondary index and its table have a sort key each, "+
				"and the same partition key: %s", ix.name)
		}
		if ix.global && (d.billing == "PROVISIONED") != (in.ProvisionedThroughput != nil) {
			return badParameter("ProvisionedThroughput must be specified for index %s if and only if "+
				"BillingMode is PROVISIONED", ix.name)
		}
		if slices.ContainsFunc(d.indexes, func(other index) bool { return other.name == ix.name }) {
			return badParameter("Duplicate index name: %s", ix.name)
		}
		d.indexes = append(d.indexes, ix)
	}
	return nil
}

func (p indexParameters) index(types map[string]attribute.Type) (index, error) {
	if err := checkName("IndexName", p.IndexName); err != nil {
		return index{}, err
	}
	k, err := newKey(p.KeySchema, types)
	if err != nil {
		return index{}, err
	}
	if p.Projection.ProjectionType == "" {
		return index{}, badParameter("Unknown ProjectionType: null")
	}
	kind, err := oneOf("ProjectionType", p.Projection.ProjectionType, "ALL", "KEYS_ONLY", "INCLUDE")
	if err != nil {
		return index{}, err
	}
	if (kind == "INCLUDE") != (len(p.Projection.NonKeyAttributes) > 0) {
		return index{}, badParameter("ProjectionType is %s, but NonKeyAttributes has %d names",
			kind, len(p.Projection.NonKeyAttributes))
	}
	ix := index{name: p.IndexName, key: k, projection: p.Projection}
	if p.ProvisionedThroughput != nil {
		ix.throughput = *p.ProvisionedThroughput
		return ix, ix.throughput.check()
	}
	return ix, nil
}

// checkAttributesUsed returns an error if an attribute is defined but not used
// by a key.
func (d definition) checkAttributesUsed() error {
	for _, a := range d.attributes {
		used := d.key.has(a.AttributeName) ||
			slices.ContainsFunc(d.indexes, func(i index) bool { return i.key.has(a.AttributeName) })
		if !used {
			return badParameter("Some AttributeDefinitions are not used. AttributeDefinitions: [%s]", a.AttributeName)
		}
	}
	return nil
}
