package dynamodb

import (
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// maxProjected is the number of attributes that all indexes of a table together
// can name in their projections (service quotas).
const maxProjected = 100

func (p *createTableParameters) setIndexes(d *definition, types map[string]attribute.Type) error {
	switch {
	case p.LocalSecondaryIndexes != nil && len(p.LocalSecondaryIndexes) == 0:
		return badParameter("List of LocalSecondaryIndexes is empty")
	case p.GlobalSecondaryIndexes != nil && len(p.GlobalSecondaryIndexes) == 0:
		return badParameter("List of GlobalSecondaryIndexes is empty")
	case len(p.LocalSecondaryIndexes) > 0 && !d.key.sorted():
		return badParameter("Table KeySchema does not have a range key, " +
			"which is required when specifying a LocalSecondaryIndex")
	}
	for _, in := range p.LocalSecondaryIndexes {
		i, err := indexParameters{IndexName: in.IndexName, KeySchema: in.KeySchema, Projection: in.Projection}.keyed(types)
		if err != nil {
			return err
		}
		if err := i.checkLocal(d.key); err != nil {
			return err
		}
		if err := i.projection.check(); err != nil {
			return err
		}
		if err := d.add(i); err != nil {
			return err
		}
	}
	if len(p.LocalSecondaryIndexes) > maxLocalIndexes {
		return badParameter("Number of LocalSecondaryIndexes exceeds per-table limit of %d", maxLocalIndexes)
	}
	for _, in := range p.GlobalSecondaryIndexes {
		i, err := in.global(types, d.billing)
		if err != nil {
			return err
		}
		if err := d.add(i); err != nil {
			return err
		}
	}
	if len(p.GlobalSecondaryIndexes) > maxGlobalIndexes {
		return badParameter("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobalIndexes)
	}
	return d.checkProjected()
}

// checkLocal checks a local index against the key of its table.
func (i *index) checkLocal(table key) error {
	switch {
	case !i.key.sorted():
		return badParameter("Index KeySchema does not have a range key for index: %s", i.name)
	case i.key.hash != table.hash:
		return badParameter("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. "+
			"index hash key: %s, table hash key: %s", i.name, i.key.hash.name, table.hash.name)
	}
	return nil
}

func (d *definition) add(i *index) error {
	for _, other := range d.indexes {
		if other.name == i.name {
			return badParameter("Duplicate index name: %s", i.name)
		}
	}
	d.indexes = append(d.indexes, i)
	return nil
}

// checkProjected checks the number of attributes in all projections together.
func (d *definition) checkProjected() error {
	n := 0
	for _, i := range d.indexes {
		n += len(i.projection.NonKeyAttributes)
	}
	if n > maxProjected {
		return badParameter("The total number of projected attributes exceeds the limit of %d", maxProjected)
	}
	return nil
}

// global returns a global index of a table with a billing mode.
func (p indexParameters) global(types map[string]attribute.Type, billing string) (*index, error) {
	i, err := p.keyed(types)
	if err != nil {
		return nil, err
	}
	if err := i.projection.check(); err != nil {
		return nil, err
	}
	i.global = true
	switch {
	case billing == onDemand && p.ProvisionedThroughput != nil:
		return nil, badParameter("ProvisionedThroughput should not be specified for index: %s "+
			"when BillingMode is PAY_PER_REQUEST", p.IndexName)
	case billing == provisioned && p.ProvisionedThroughput == nil:
		return nil, badParameter("ProvisionedThroughput must be specified for index: %s", p.IndexName)
	case p.ProvisionedThroughput != nil:
		i.throughput = *p.ProvisionedThroughput
	}
	return i, i.throughput.check(" for index " + i.name)
}

// keyed returns an index of which only the key has been checked.
func (p indexParameters) keyed(types map[string]attribute.Type) (*index, error) {
	k, err := newKey(p.KeySchema, types)
	return &index{name: p.IndexName, key: k, projection: *p.Projection}, err
}

func (p projection) check() error {
	switch {
	case p.ProjectionType == "":
		return badParameter("Unknown ProjectionType: null")
	case p.ProjectionType != "INCLUDE" && len(p.NonKeyAttributes) > 0:
		return badParameter("ProjectionType is %s, but NonKeyAttributes is specified", p.ProjectionType)
	case p.ProjectionType == "INCLUDE" && len(p.NonKeyAttributes) == 0:
		return badParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	return nil
}
