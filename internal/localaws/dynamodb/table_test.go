package dynamodb_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestTableIsDescribed(t *testing.T) {
	t.Parallel()
	s := newService()
	created, err := s.call(t, "CreateTable", createNotes)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t,
		step{operation: "PutItem", body: `{"TableName":"notes","Item":{"id":{"S":"a"},"sk":{"N":"1"},"owner":{"S":"o"}}}`},
		step{operation: "PutItem", body: `{"TableName":"notes","Item":{"id":{"S":"a"},"sk":{"N":"2"}}}`})
	described, err := s.call(t, "DescribeTable", `{"TableName":"notes"}`)
	if err != nil {
		t.Fatal(err)
	}
	type index struct {
		IndexName, IndexArn, IndexStatus string
		ItemCount                        int
	}
	type table struct {
		TableName, TableArn, TableId, TableStatus     string
		CreationDateTime                              float64
		ItemCount, TableSizeBytes                     int
		BillingModeSummary                            struct{ BillingMode string }
		GlobalSecondaryIndexes, LocalSecondaryIndexes []index
	}
	var before struct{ TableDescription table }
	var after struct{ Table table }
	if err := json.Unmarshal([]byte(created), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(described), &after); err != nil {
		t.Fatal(err)
	}
	got := after.Table
	if before.TableDescription.TableStatus != "CREATING" || got.TableStatus != "ACTIVE" {
		t.Errorf("status %s, then %s", before.TableDescription.TableStatus, got.TableStatus)
	}
	if got.TableArn != "arn:aws:dynamodb:eu-west-1:123456789012:table/notes" || got.TableId == "" {
		t.Errorf("ARN %s, id %s", got.TableArn, got.TableId)
	}
	if got.CreationDateTime != float64(s.clock.now.Unix()) || got.BillingModeSummary.BillingMode != "PAY_PER_REQUEST" {
		t.Errorf("created %v, billing %s", got.CreationDateTime, got.BillingModeSummary.BillingMode)
	}
	if got.ItemCount != 2 || got.TableSizeBytes != 20 {
		t.Errorf("%d items of %d bytes", got.ItemCount, got.TableSizeBytes)
	}
	global, local := got.GlobalSecondaryIndexes, got.LocalSecondaryIndexes
	if len(global) != 1 || global[0] != (index{"by-owner", got.TableArn + "/index/by-owner", "ACTIVE", 1}) {
		t.Errorf("global indexes: %+v", global)
	}
	if len(local) != 1 || local[0] != (index{"by-rank", got.TableArn + "/index/by-rank", "", 0}) {
		t.Errorf("local indexes: %+v", local)
	}
}

func TestTablesAreCreatedAndDeleted(t *testing.T) {
	t.Parallel()
	newService().run(t,
		step{"ListTables", `{}`, `{"TableNames":[]}`, ""},
		step{"CreateTable", createJobs, "", ""},
		step{"CreateTable", createJobs, "", "ResourceInUseException: Table already exists: jobs"},
		step{"CreateTable", createNotes, "", ""},
		step{"ListTables", `{}`, `{"TableNames":["jobs","notes"]}`, ""},
		step{"ListTables", `{"Limit":1}`, `{"TableNames":["jobs"],"LastEvaluatedTableName":"jobs"}`, ""},
		step{"ListTables", `{"Limit":1,"ExclusiveStartTableName":"jobs"}`, `{"TableNames":["notes"]}`, ""},
		step{"ListTables", `{"Limit":0}`, "", "ValidationException: at 'limit'"},
		step{"ListTables", `{"Limit":101}`, "", "ValidationException: at 'limit'"},
		step{"DeleteTable", `{"TableName":"jobs"}`, "", ""},
		step{"DeleteTable", `{"TableName":"jobs"}`, "", "ResourceNotFoundException: Table: jobs not found"},
		step{"DescribeTable", `{"TableName":"jobs"}`, "", "ResourceNotFoundException: Table: jobs not found"},
		step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"a"}}}`, "",
			"ResourceNotFoundException: Requested resource not found"},
		step{"GetItem", `{"TableName":"jobs","Key":{"id":{"S":"a"}}}`, "", "ResourceNotFoundException"},
		step{"UpdateItem", `{"TableName":"jobs","Key":{"id":{"S":"a"}}}`, "", "ResourceNotFoundException"},
		step{"DeleteItem", `{"TableName":"jobs","Key":{"id":{"S":"a"}}}`, "", "ResourceNotFoundException"},
		step{"Scan", `{"TableName":"jobs"}`, "", "ResourceNotFoundException"},
		step{"Query", `{"TableName":"jobs","KeyConditionExpression":"id = :a","ExpressionAttributeValues":{":a":{"S":"a"}}}`,
			"", "ResourceNotFoundException"},
		step{"CreateTable", createJobs, "", ""},
		step{"Scan", `{"TableName":"jobs"}`, `{"Items":[],"Count":0,"ScannedCount":0}`, ""})
}

func TestProtectedTableIsNotDeleted(t *testing.T) {
	t.Parallel()
	newService().run(t,
		step{"CreateTable", strings.Replace(createJobs, `{`, `{"DeletionProtectionEnabled":true,`, 1), "", ""},
		step{"DeleteTable", `{"TableName":"jobs"}`, "", "ValidationException: protected against deletion"})
}

func TestTablesThatAreRefused(t *testing.T) {
	t.Parallel()
	const (
		id       = `{"AttributeName":"id","AttributeType":"S"}`
		sk       = `{"AttributeName":"sk","AttributeType":"N"}`
		hash     = `{"AttributeName":"id","KeyType":"HASH"}`
		sorted   = `{"AttributeName":"sk","KeyType":"RANGE"}`
		all      = `"Projection":{"ProjectionType":"ALL"}`
		capacity = `"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`
		onDemand = `"BillingMode":"PAY_PER_REQUEST"`
	)
	body := func(name, attributes, keys string, more ...string) string {
		return fmt.Sprintf(`{"TableName":%q,"AttributeDefinitions":[%s],"KeySchema":[%s],%s}`,
			name, attributes, keys, strings.Join(more, ","))
	}
	gsi := func(members ...string) string {
		return `"GlobalSecondaryIndexes":[{` + strings.Join(members, ",") + `}]`
	}
	lsi := func(members ...string) string {
		return `"LocalSecondaryIndexes":[{` + strings.Join(members, ",") + `}]`
	}
	for _, c := range []struct{ body, message string }{
		{body("ab", id, hash, onDemand), "at least 3 characters long"},
		{body("a b c", id, hash, onDemand), "regular expression pattern"},
		{body(strings.Repeat("x", 256), id, hash, onDemand), "at most 255 characters long"},
		{body("jobs", id, hash, `"BillingMode":"FREE"`), "at 'billingMode'"},
		{body("jobs", id, hash, `"BillingMode":"PROVISIONED"`), "must both be specified when BillingMode is PROVISIONED"},
		{body("jobs", id, hash, onDemand, capacity), "can be specified when BillingMode is PAY_PER_REQUEST"},
		{body("jobs", id, hash, `"ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":1}`),
			"greater than or equal to 1"},
		{body("jobs", id, "", onDemand), "at 'keySchema'"},
		{body("jobs", sk, sorted, onDemand), "The first KeySchemaElement is not a HASH key type"},
		{body("jobs", id+","+sk, hash+","+strings.Replace(sorted, "RANGE", "HASH", 1), onDemand),
			"The second KeySchemaElement is not a RANGE key type"},
		{body("jobs", id+","+sk, hash+`,{"AttributeName":"id","KeyType":"RANGE"}`, onDemand), "have the same name"},
		{body("jobs", sk, hash, onDemand), "not defined in AttributeDefinitions. Keys: [id]"},
		{body("jobs", id+","+sk, hash, onDemand), "Number of attributes in KeySchema does not exactly match"},
		{body("jobs", id+","+id, hash, onDemand), "Duplicate AttributeName"},
		{body("jobs", `{"AttributeName":"id","AttributeType":"BOOL"}`, hash, onDemand),
			"at 'attributeDefinitions.1.member.attributeType'"},
		{body("jobs", id, hash, onDemand, gsi(`"IndexName":"x"`, `"KeySchema":[`+hash+`]`, all)),
			"at 'globalSecondaryIndexes.1.member.indexName'"},
		{body("jobs", id, hash, onDemand, gsi(`"IndexName":"index"`, `"KeySchema":[`+hash+`]`)),
			"1.member.projection' failed"},
		{body("jobs", id, hash, onDemand, gsi(`"IndexName":"index"`, `"KeySchema":[`+hash+`]`,
			`"Projection":{"ProjectionType":"SOME"}`)), "1.member.projection.projectionType'"},
		{body("jobs", id, hash, onDemand, gsi(`"IndexName":"index"`, `"KeySchema":[`+hash+`]`,
			`"Projection":{"ProjectionType":"INCLUDE"}`)), "NonKeyAttributes is not specified"},
		{body("jobs", id+","+sk, hash, onDemand, gsi(`"IndexName":"index"`, `"KeySchema":[`+sorted+`]`, all)),
			"is not a HASH key type"},
		{body("jobs", id, hash, capacity, gsi(`"IndexName":"index"`, `"KeySchema":[`+hash+`]`, all)),
			"ProvisionedThroughput must be specified for index: index"},
		{body("jobs", id, hash, onDemand, gsi(`"IndexName":"index"`, `"KeySchema":[`+hash+`]`, all, capacity)),
			"ProvisionedThroughput should not be specified for index: index"},
		{body("jobs", id+","+sk, hash, onDemand, lsi(`"IndexName":"index"`, `"KeySchema":[`+hash+","+sorted+`]`, all)),
			"Table KeySchema does not have a range key"},
		{body("jobs", id+","+sk, hash+","+sorted, onDemand,
			gsi(`"IndexName":"index"`, `"KeySchema":[`+hash+`]`, all),
			lsi(`"IndexName":"index"`, `"KeySchema":[`+hash+","+sorted+`]`, all)), "Duplicate index name: index"},
	} {
		_, err := newService().call(t, "CreateTable", c.body)
		wantRefused(t, err, "ValidationException: "+c.message)
	}
}

func TestProvisionedTable(t *testing.T) {
	t.Parallel()
	s := newService()
	body := strings.Replace(createJobs, `"BillingMode":"PAY_PER_REQUEST"`,
		`"ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":2}`, 1)
	got, err := s.call(t, "CreateTable", body)
	if err != nil {
		t.Fatal(err)
	}
	want := `"ReadCapacityUnits":3,"WriteCapacityUnits":2`
	if !strings.Contains(got, want) || strings.Contains(got, "BillingMode") {
		t.Errorf("%s has no %s, or a billing mode", got, want)
	}
}

func TestTimeToLive(t *testing.T) {
	t.Parallel()
	const (
		on      = `{"TableName":"jobs","TimeToLiveSpecification":{"AttributeName":"expiration","Enabled":true}}`
		off     = `{"TableName":"jobs","TimeToLiveSpecification":{"AttributeName":"expiration","Enabled":false}}`
		another = `{"TableName":"jobs","TimeToLiveSpecification":{"AttributeName":"until","Enabled":false}}`
		table   = `{"TableName":"jobs"}`
	)
	withTables(t).run(t,
		step{"DescribeTimeToLive", table, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`, ""},
		step{"UpdateTimeToLive", off, "", "ValidationException: TimeToLive is already disabled"},
		step{"UpdateTimeToLive", on, `{"TimeToLiveSpecification":{"AttributeName":"expiration","Enabled":true}}`, ""},
		step{"UpdateTimeToLive", on, "", "ValidationException: TimeToLive is already enabled"},
		step{"DescribeTimeToLive", table,
			`{"TimeToLiveDescription":{"AttributeName":"expiration","TimeToLiveStatus":"ENABLED"}}`, ""},
		step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"old"},"expiration":{"N":"1"}}}`, `{}`, ""},
		step{"GetItem", `{"TableName":"jobs","Key":{"id":{"S":"old"}}}`,
			`{"Item":{"id":{"S":"old"},"expiration":{"N":"1"}}}`, ""},
		step{"UpdateTimeToLive", another, "", "ValidationException: current AttributeName is expiration"},
		step{"UpdateTimeToLive", off, "", ""},
		step{"DescribeTimeToLive", table, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`, ""},
		step{"UpdateTimeToLive", `{"TableName":"jobs"}`, "", "ValidationException: at 'timeToLiveSpecification'"},
		step{"UpdateTimeToLive", strings.Replace(on, "jobs", "none", 1), "", "ResourceNotFoundException: none"},
		step{"DescribeTimeToLive", `{"TableName":"none"}`, "", "ResourceNotFoundException: none"})
}
