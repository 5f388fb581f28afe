package conformance_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// arn returns the ARN of a table.
func (e *ddbEnv) arn(t T, table string) string {
	t.Helper()
	out, err := e.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	must(t, "DescribeTable", err)
	return aws.ToString(out.Table.TableArn)
}

var ddbSettingChecks = []check[*ddbEnv]{
	{
		id:  "ddb/tables/arn-as-name",
		doc: "The ARN of a table can stand in place of its name.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			arn := e.arn(t, table)
			e.put(t, arn, item{"id": avS("k"), "v": avN(1)})
			equal(t, "v", show(e.get(t, table, "k"), "v"), "1")
			out, err := e.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &arn})
			must(t, "DescribeTable", err)
			equal(t, "name", aws.ToString(out.Table.TableName), table)
		},
	},
	{
		id:  "ddb/tables/default-settings-taken",
		doc: "CreateTable takes tags, streams and encryption that are off, and the standard class.",
		run: func(t T, e *ddbEnv) {
			in := keyTable(unique("t"))
			in.Tags = []types.Tag{{Key: aws.String("env"), Value: aws.String("test")}}
			in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(false)}
			in.SSESpecification = &types.SSESpecification{Enabled: aws.Bool(false)}
			in.TableClass = types.TableClassStandard
			e.create(t, in)
		},
	},
	{
		id:  "ddb/tables/tags",
		doc: "A table has the tags of its creation; others are added, changed and removed by its ARN.",
		run: func(t T, e *ddbEnv) {
			in := keyTable(unique("t"))
			in.Tags = []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("1")}}
			arn := e.arn(t, e.create(t, in))
			_, err := e.c.TagResource(t.Context(), &dynamodb.TagResourceInput{
				ResourceArn: &arn, Tags: []types.Tag{{Key: aws.String("b"), Value: aws.String("2")}},
			})
			must(t, "TagResource", err)
			_, err = e.c.UntagResource(t.Context(), &dynamodb.UntagResourceInput{ResourceArn: &arn, TagKeys: []string{"a"}})
			must(t, "UntagResource", err)
			out, err := e.c.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: &arn})
			must(t, "ListTagsOfResource", err)
			got := ""
			for _, tag := range out.Tags {
				got += aws.ToString(tag.Key) + aws.ToString(tag.Value)
			}
			equal(t, "tags", got, "b2")
		},
	},
	{
		id:  "ddb/tables/billing-mode",
		doc: "UpdateTable turns a table on demand into a provisioned one, and back.",
		run: func(t T, e *ddbEnv) {
			table := e.table(t)
			got := ""
			for _, in := range []*dynamodb.UpdateTableInput{
				{
					BillingMode: types.BillingModeProvisioned,
					ProvisionedThroughput: &types.ProvisionedThroughput{
						ReadCapacityUnits: aws.Int64(3), WriteCapacityUnits: aws.Int64(2),
					},
				},
				{BillingMode: types.BillingModePayPerRequest},
			} {
				in.TableName = &table
				_, err := e.c.UpdateTable(t.Context(), in)
				must(t, "UpdateTable", err)
				eventually(t, 0, func() error {
					out, err := e.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
					if err != nil || out.Table.TableStatus != types.TableStatusActive {
						return fmt.Errorf("not active: %s", describe(err))
					}
					return nil
				})
				out, err := e.c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
				must(t, "DescribeTable", err)
				got += fmt.Sprint(out.Table.BillingModeSummary.BillingMode, " ",
					aws.ToInt64(out.Table.ProvisionedThroughput.ReadCapacityUnits), "; ")
			}
			equal(t, "modes and units", got, "PROVISIONED 3; PAY_PER_REQUEST 0; ")
		},
	},
}
