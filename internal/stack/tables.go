package stack

import "slices"

func (t *template) table(r *resource) Table {
	properties := t.properties(r)
	table := Table{LogicalID: r.id, Name: t.physicalName(r), ARN: t.arn(r)}
	if r.kind == kindSimpleTable {
		table.Keys, table.Attributes = simpleKey(properties)
		t.checkSchema(table, properties)
		return table
	}
	for _, item := range properties.items("KeySchema") {
		key := t.section(r.id+": KeySchema", item, r.node)
		table.Keys = append(table.Keys, Key{key.text("AttributeName"), key.text("KeyType")})
	}
	for _, item := range properties.items("AttributeDefinitions") {
		a := t.section(r.id+": AttributeDefinitions", item, r.node)
		table.Attributes = append(table.Attributes, Attribute{a.text("AttributeName"), a.text("AttributeType")})
	}
	if ttl := properties.section("TimeToLiveSpecification"); ttl.flag("Enabled", false) {
		table.TTLAttribute = ttl.text("AttributeName")
	}
	for _, index := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		if properties.member(index) != nil {
			t.note(properties.at(index), "%s: %s are left alone", r.id, index)
		}
	}
	t.checkSchema(table, properties)
	// DynamoDB refuses definitions of attributes that no key uses. Indexes,
	// which may use them, are not read.
	table.Attributes = slices.DeleteFunc(table.Attributes, func(a Attribute) bool {
		return !slices.ContainsFunc(table.Keys, func(k Key) bool { return k.Name == a.Name })
	})
	return table
}

// simpleKey returns the key of an AWS::Serverless::SimpleTable: by default a
// string called id.
func simpleKey(properties section) ([]Key, []Attribute) {
	name, kind := "id", "S"
	if primary := properties.section("PrimaryKey"); primary.node != nil {
		name = primary.text("Name")
		// The types are called String, Number and Binary here; S, N and B are
		// their first letters.
		if word := primary.text("Type"); word != "" {
			kind = word[:1]
		}
	}
	return []Key{{name, "HASH"}}, []Attribute{{name, kind}}
}

func (t *template) checkSchema(table Table, properties section) {
	if len(table.Keys) == 0 || len(table.Keys) > 2 || table.Keys[0].Type != "HASH" {
		properties.fail("KeySchema", ": a table has one HASH key, then at most one RANGE key")
		return
	}
	for _, key := range table.Keys {
		defined := func(a Attribute) bool { return a.Name == key.Name && slices.Contains([]string{"S", "N", "B"}, a.Type) }
		if !slices.ContainsFunc(table.Attributes, defined) {
			properties.fail("AttributeDefinitions", ": key %q is not defined as S, N or B: add it", key.Name)
		}
	}
}
