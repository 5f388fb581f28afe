package dynamodb

import (
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type updateTableParameters struct {
	harmlessParameters

	TableName                   string                `rule:"required,table"`
	AttributeDefinitions        []attributeDefinition `rule:"is=AttributeDefinition"`
	BillingMode                 string                `rule:"enum=PROVISIONED|PAY_PER_REQUEST"`
	ProvisionedThroughput       *throughput           `rule:"is=ProvisionedThroughput"`
	GlobalSecondaryIndexUpdates []indexUpdate         `rule:"is=GlobalSecondaryIndexUpdate"`
	DeletionProtectionEnabled   *bool
}

// indexUpdate changes one global index. Exactly one member is set.
type indexUpdate struct {
	Create *indexParameters `rule:"is=CreateGlobalSecondaryIndexAction"`
	Update *indexThroughput `rule:"is=UpdateGlobalSecondaryIndexAction"`
	Delete *indexName       `rule:"is=DeleteGlobalSecondaryIndexAction"`
}

type indexThroughput struct {
	IndexName             string      `rule:"required,name,len=3..255"`
	ProvisionedThroughput *throughput `rule:"required,is=ProvisionedThroughput"`
}

type indexName struct {
	IndexName string `rule:"required,name,len=3..255"`
}

func (u indexUpdate) name() string {
	switch {
	case u.Create != nil:
		return u.Create.IndexName
	case u.Update != nil:
		return u.Update.IndexName
	case u.Delete != nil:
		return u.Delete.IndexName
	}
	return ""
}

// updateTable makes the changes at once. Its response describes them as under
// way, as AWS does; the next request finds them done.
func (s *Service) updateTable(p *updateTableParameters) (tableResponse, error) {
	if err := p.checkRequest(); err != nil {
		return tableResponse{}, err
	}
	t, err := s.namedTable(p.TableName)
	if err != nil {
		return tableResponse{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	change := tableChange{table: t, settings: t.settings, attributes: t.attributes, indexes: slices.Clone(t.indexes)}
	if err := change.plan(p, s.clock.Now()); err != nil {
		return tableResponse{}, err
	}
	encrypted := t.encryption
	p.apply(s, &change.settings)
	d := change.apply()
	if encrypted != nil && change.encryption == nil {
		d.SSEDescription = &encryption{"UPDATING", encrypted.SSEType, encrypted.KMSMasterKeyArn}
	}
	return tableResponse{TableDescription: d}, nil
}

// checkRequest checks what does not depend on the table.
func (p *updateTableParameters) checkRequest() error {
	if err := p.check("UpdateTable"); err != nil {
		return err
	}
	if p.ProvisionedThroughput != nil {
		if err := p.ProvisionedThroughput.check(""); err != nil {
			return err
		}
	}
	if p.ProvisionedThroughput == nil && p.BillingMode == "" && len(p.GlobalSecondaryIndexUpdates) == 0 &&
		p.DeletionProtectionEnabled == nil && p.TableClass == "" && p.SSESpecification == nil &&
		p.StreamSpecification == nil && p.WarmThroughput == nil && p.OnDemandThroughput == nil {
		return attribute.Invalidf("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
			"GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	}
	seen := make(map[string]bool)
	for _, u := range p.GlobalSecondaryIndexUpdates {
		switch name := u.name(); {
		case name == "":
			return badParameter("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
				"GlobalSecondaryIndexUpdate.Delete must not be null")
		case seen[name]:
			return badParameter("Only one global secondary index update per index is allowed simultaneously. "+
				"Index: %s", name)
		default:
			seen[name] = true
		}
	}
	return nil
}

// onlineChanges returns how many indexes are created or deleted.
func (p *updateTableParameters) onlineChanges() int {
	n := 0
	for _, u := range p.GlobalSecondaryIndexUpdates {
		if u.Update == nil {
			n++
		}
	}
	return n
}

// tableChange is a table as it will be.
type tableChange struct {
	settings

	table      *table
	attributes []attributeDefinition
	indexes    []*index
	created    []*index
	deleted    []*index
	updated    map[*index]throughput
}

func (c *tableChange) plan(p *updateTableParameters, now time.Time) error {
	if err := c.planBilling(p, now); err != nil {
		return err
	}
	if p.DeletionProtectionEnabled != nil {
		c.protected = *p.DeletionProtectionEnabled
	}
	if err := c.define(p.AttributeDefinitions); err != nil {
		return err
	}
	c.updated = make(map[*index]throughput)
	if p.onlineChanges() > 1 {
		return limitExceeded("Subscriber limit exceeded: " +
			"Only 1 online index can be created or deleted simultaneously per table")
	}
	for _, u := range p.GlobalSecondaryIndexUpdates {
		if err := c.planIndex(u); err != nil {
			return err
		}
	}
	c.attributes = filterAttributes(c.attributes, func(name string) bool { return used(name, c.table.key, c.indexes) })
	return nil
}

func (c *tableChange) planBilling(p *updateTableParameters, now time.Time) error {
	before := c.throughput
	billing := orDefault(p.BillingMode, c.billing)
	switch {
	case billing == onDemand && p.ProvisionedThroughput != nil:
		return badParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified " +
			"when BillingMode is PAY_PER_REQUEST")
	case billing == provisioned && c.billing == onDemand && p.ProvisionedThroughput == nil:
		return badParameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	case billing == onDemand && c.billing == provisioned:
		c.throughput, c.lastOnDemand = throughput{}, now
	}
	c.billing = billing
	if p.ProvisionedThroughput == nil {
		return nil
	}
	if c.throughput = *p.ProvisionedThroughput; c.throughput == before && len(p.GlobalSecondaryIndexUpdates) == 0 {
		return attribute.Invalidf("The provisioned throughput for the table will not change. "+
			"The requested value equals the current value. "+
			"Current ReadCapacityUnits provisioned for the table: %d. Requested ReadCapacityUnits: %d. "+
			"Current WriteCapacityUnits provisioned for the table: %d. Requested WriteCapacityUnits: %d. "+
			"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
			before.ReadCapacityUnits, c.throughput.ReadCapacityUnits,
			before.WriteCapacityUnits, c.throughput.WriteCapacityUnits)
	}
	return nil
}

// define adds definitions of attributes, which must not contradict the others.
func (c *tableChange) define(definitions []attributeDefinition) error {
	c.attributes = slices.Clone(c.attributes)
	for _, d := range definitions {
		at := slices.IndexFunc(c.attributes, func(a attributeDefinition) bool { return a.AttributeName == d.AttributeName })
		switch {
		case at < 0:
			c.attributes = append(c.attributes, d)
		case c.attributes[at].AttributeType != d.AttributeType:
			return attribute.Invalidf("Cannot change the type of the attribute %s from %s to %s",
				d.AttributeName, c.attributes[at].AttributeType, d.AttributeType)
		}
	}
	return nil
}

func (c *tableChange) planIndex(u indexUpdate) error {
	at := slices.IndexFunc(c.indexes, func(i *index) bool { return i.name == u.name() })
	switch {
	case u.Create != nil && at >= 0:
		return attribute.Invalidf("Attempting to create an index which already exists")
	case u.Create != nil:
		return c.create(*u.Create)
	case at < 0 && u.Update != nil:
		return attribute.Invalidf("This operation cannot be performed with given input values. " +
			"Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate")
	case u.Delete != nil && at < 0:
		return &protocol.Error{
			Code:    "ResourceNotFoundException",
			Message: "Requested resource not found: Index: " + u.name() + " not found",
		}
	case u.Delete != nil:
		c.deleted = append(c.deleted, c.indexes[at])
		c.indexes = slices.Delete(c.indexes, at, at+1)
	default:
		c.updated[c.indexes[at]] = *u.Update.ProvisionedThroughput
		return u.Update.ProvisionedThroughput.check(" for index " + u.name())
	}
	return nil
}

func (c *tableChange) create(p indexParameters) error {
	types, err := attributeTypes(c.attributes)
	if err != nil {
		return err
	}
	i, err := p.global(types, c.billing)
	if err != nil {
		return err
	}
	global := 0
	for _, other := range c.indexes {
		if other.global {
			global++
		}
	}
	if global >= maxGlobalIndexes {
		return limitExceeded("Subscriber limit exceeded: GlobalSecondaryIndex count exceeds the per-table limit of 20")
	}
	c.created = append(c.created, i)
	c.indexes = append(c.indexes, i)
	return nil
}

// apply makes the change and returns what the response says of it. The caller
// holds the table's mutex.
func (c *tableChange) apply() *tableDescription {
	t := c.table
	before := t.throughput
	for _, i := range c.created {
		t.fill(i)
	}
	for i, units := range c.updated {
		i.throughput = units
	}
	t.settings, t.attributes, t.indexes = c.settings, c.attributes, c.indexes
	d := t.describe("UPDATING")
	if c.billing == provisioned && before != (throughput{}) {
		d.ProvisionedThroughput.throughput = before
	}
	for at, i := range t.globalIndexes() {
		status, backfilling := active, true
		if slices.Contains(c.created, i) {
			status = "CREATING"
			d.GlobalSecondaryIndexes[at].Backfilling = &backfilling
		}
		if _, ok := c.updated[i]; ok {
			status = "UPDATING"
		}
		d.GlobalSecondaryIndexes[at].IndexStatus = status
	}
	for _, i := range c.deleted {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, t.describeIndex(i, "DELETING"))
	}
	return d
}

// globalIndexes returns the global indexes. The caller holds the mutex.
func (t *table) globalIndexes() []*index {
	return slices.DeleteFunc(slices.Clone(t.indexes), func(i *index) bool { return !i.global })
}

func filterAttributes(definitions []attributeDefinition, keep func(name string) bool) []attributeDefinition {
	return slices.DeleteFunc(slices.Clone(definitions), func(d attributeDefinition) bool { return !keep(d.AttributeName) })
}

func limitExceeded(message string) error {
	return &protocol.Error{Code: "LimitExceededException", Message: message}
}
