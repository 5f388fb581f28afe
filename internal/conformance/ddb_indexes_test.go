package conformance_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func define(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
}

func schema(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
	}
}

// localTable describes a table whose key is the strings id and sk, with local
// indexes of keys only by the number rank.
func localTable(indexes int) *dynamodb.CreateTableInput {
	in := keyTable(unique("t"))
	in.AttributeDefinitions = append(in.AttributeDefinitions,
		define("sk", types.ScalarAttributeTypeS), define("rank", types.ScalarAttributeTypeN))
	in.KeySchema = schema("id", "sk")
	for i := range indexes {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
			IndexName: aws.String(fmt.Sprint("byrank", i)), KeySchema: schema("id", "rank"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		})
	}
	return in
}

// globalTable describes a table with global indexes by the string owner.
func globalTable(indexes int) *dynamodb.CreateTableInput {
	in := keyTable(unique("t"))
	in.AttributeDefinitions = append(in.AttributeDefinitions, define("owner", types.ScalarAttributeTypeS))
	for i := range indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, byOwner(fmt.Sprint("byowner", i)))
	}
	return in
}

func byOwner(name string) types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName:  &name,
		KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("owner"), KeyType: types.KeyTypeHash}},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}
}

// ownerQuery describes a query of the index byowner0.
func ownerQuery(table string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: &table, IndexName: aws.String("byowner0"), KeyConditionExpression: aws.String("#o = :o"),
		ExpressionAttributeNames: map[string]string{"#o": "owner"}, ExpressionAttributeValues: item{":o": avS("a")},
	}
}

var ddbIndexChecks = []check[*ddbEnv]{
	{
		id:    "ddb/indexes/local-index-reads-the-table",
		doc:   "A query of a local index returns attributes that the index does not contain, if the query asks for them.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			table := e.create(t, localTable(1))
			e.put(t, table, item{"id": avS("k"), "sk": avS("s"), "rank": avN(1), "v": avS("x")})
			got := ""
			for _, in := range []*dynamodb.QueryInput{
				{}, {Select: types.SelectAllAttributes}, {ProjectionExpression: aws.String("v")},
			} {
				in.TableName, in.IndexName = &table, aws.String("byrank0")
				in.KeyConditionExpression = aws.String("id = :k")
				in.ExpressionAttributeValues = item{":k": avS("k")}
				out, err := e.c.Query(t.Context(), in)
				must(t, "Query", err)
				got += show(out.Items[0], "v") + " " + show(out.Items[0], "sk") + "; "
			}
			equal(t, "v and sk", got, "none s; x s; x none; ")
		},
	},
	{
		id:    "ddb/indexes/global-index-does-not-read-the-table",
		doc:   "A query of a global index is refused if it asks for attributes that the index does not contain.",
		basis: recorded,
		run: func(t T, e *ddbEnv) {
			in := ownerQuery(e.create(t, globalTable(1)))
			in.Select = types.SelectAllAttributes
			_, err := e.c.Query(t.Context(), in)
			wantRejected(t, err)
			in.Select, in.ProjectionExpression = "", aws.String("v")
			_, err = e.c.Query(t.Context(), in)
			wantRejected(t, err)
		},
	},
	{
		id:  "ddb/indexes/five-local",
		doc: "A table can have 5 local secondary indexes, and no more.",
		run: func(t T, e *ddbEnv) {
			e.create(t, localTable(5))
			_, err := e.c.CreateTable(t.Context(), localTable(6))
			wantRejected(t, err)
		},
	},
	{
		id:  "ddb/indexes/twenty-global",
		doc: "A table can have 20 global secondary indexes, and no more.",
		run: func(t T, e *ddbEnv) {
			e.create(t, globalTable(20))
			_, err := e.c.CreateTable(t.Context(), globalTable(21))
			wantRejected(t, err)
		},
	},
	{
		id: "ddb/indexes/added-and-removed",
		doc: "UpdateTable creates a global index, which then has the items of the table that have its keys, and deletes " +
			"it again.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			e.put(t, table, item{"id": avS("k"), "owner": avS("a")})
			e.put(t, table, item{"id": avS("l"), "owner": avN(1)})
			add := byOwner("byowner0")
			out, err := e.c.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
				TableName:            &table,
				AttributeDefinitions: []types.AttributeDefinition{define("owner", types.ScalarAttributeTypeS)},
				GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{
					Create: &types.CreateGlobalSecondaryIndexAction{
						IndexName: add.IndexName, KeySchema: add.KeySchema, Projection: add.Projection,
					},
				}},
			})
			must(t, "UpdateTable", err)
			equal(t, "status", string(out.TableDescription.GlobalSecondaryIndexes[0].IndexStatus), "CREATING")
			eventually(t, 0, func() error {
				found, err := e.c.Query(t.Context(), ownerQuery(table))
				if err != nil || found.Count != 1 {
					return fmt.Errorf("%v: %s", found, describe(err))
				}
				return nil
			})
			_, err = e.c.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
				TableName: &table,
				GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
					{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("byowner0")}},
				},
			})
			must(t, "UpdateTable", err)
			eventually(t, 0, func() error {
				if _, err := e.c.Query(t.Context(), ownerQuery(table)); err == nil {
					return fmt.Errorf("the index is still there")
				}
				return nil
			})
		},
	},
}
