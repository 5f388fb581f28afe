package dynamodb

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

// The maximum lengths of key values in bytes (service quotas).
const (
	maxHashBytes = 2048
	maxSortBytes = 1024
)

// The messages for longer ones, spelled as AWS spells them.
const (
	tooLongHash = "Size of hashkey has exceeded the maximum size limit of%d bytes"
	tooLongSort = "Aggregated size of all range keys has exceeded the size limit of %d bytes"
)

// key is the primary key of a table or index.
type key struct{ hash, sort keyAttribute }

// keyAttribute is a part of a key. The sort attribute is the zero value if the
// key has none.
type keyAttribute struct {
	name     string
	dataType attribute.Type
}

func (k key) sorted() bool { return k.sort.name != "" }

func (k key) names() expression.Key { return expression.Key{Hash: k.hash.name, Range: k.sort.name} }

func (k key) has(name string) bool { return name == k.hash.name || k.sorted() && name == k.sort.name }

func (k key) attributes() []keyAttribute {
	if k.sorted() {
		return []keyAttribute{k.hash, k.sort}
	}
	return []keyAttribute{k.hash}
}

// of returns the key attributes of an item that has them.
func (k key) of(item attribute.Item) attribute.Item {
	values := make(attribute.Item, 2)
	for _, a := range k.attributes() {
		values[a.name] = item[a.name]
	}
	return values
}

// checkItem checks that an item has a valid key.
func (k key) checkItem(item attribute.Item) error {
	for _, a := range k.attributes() {
		v := item[a.name]
		if v == nil {
			return badParameter("Missing the key %s in the item", a.name)
		}
		if v.Type() != a.dataType {
			return badParameter("Type mismatch for key %s expected: %s actual: %s", a.name, a.dataType, v.Type())
		}
	}
	return k.checkSizes(item)
}

// checkKey checks the key of a request: it has these attributes and no others.
func (k key) checkKey(values attribute.Item) error {
	for _, a := range k.attributes() {
		if v := values[a.name]; v == nil || v.Type() != a.dataType {
			return attribute.Invalidf("The provided key element does not match the schema")
		}
	}
	if len(values) != len(k.attributes()) {
		return attribute.Invalidf("The provided key element does not match the schema")
	}
	return k.checkSizes(values)
}

// checkScalars returns an error for attributes of which an expression uses parts
// and that are keys of the table or of an index.
func (t *table) checkScalars(nested ...[]string) error {
	const message = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: %s: %s"
	for _, name := range slices.Concat(nested...) {
		if t.key.has(name) {
			return attribute.Invalidf(message, "Key", name)
		}
		for _, i := range t.currentIndexes() {
			if i.key.has(name) {
				return attribute.Invalidf(message, "IndexKey", name)
			}
		}
	}
	return nil
}

func (k key) checkSizes(item attribute.Item) error {
	for _, a := range k.attributes() {
		n, ok := attribute.Extent(item[a.name])
		limit, message := maxHashBytes, tooLongHash
		if a == k.sort {
			limit, message = maxSortBytes, tooLongSort
		}
		switch {
		case ok && n == 0:
			return attribute.Invalidf("One or more parameter values are not valid. "+
				"The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s",
				typeNames[a.dataType], a.name)
		case n > limit:
			return badParameter(message, limit)
		}
	}
	return nil
}

var typeNames = map[attribute.Type]string{attribute.TypeString: "string", attribute.TypeBinary: "binary"}

// place returns the place of an item that has the key. primary is the encoded
// primary key.
func (k key) place(item attribute.Item, primary string) keyspace.Place {
	var sort attribute.Value
	if k.sorted() {
		sort = item[k.sort.name]
	}
	return keyspace.NewPlace(item[k.hash.name], sort, primary)
}

// encode returns a string that is unique for the key.
func (k key) encode(item attribute.Item) string {
	var b strings.Builder
	for _, a := range k.attributes() {
		text := attribute.KeyBytes(item[a.name])
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(':')
		b.Write(text)
	}
	return b.String()
}
