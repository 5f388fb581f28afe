package dynamo_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/simulation"
)

// tampering is a client that writes under weaker conditions than it is told.
type tampering struct {
	dynamo.API
	// kind is a part of the conditions that are changed, clause what is taken
	// out of them, all of it if empty, and instead what they get in its place.
	kind, clause, instead string
}

func (c tampering) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	if condition := aws.ToString(in.ConditionExpression); strings.Contains(condition, c.kind) {
		if c.clause == "" {
			c.clause = condition
		}
		in.ConditionExpression = aws.String(strings.ReplaceAll(condition, c.clause, c.instead))
		text := *in.ConditionExpression + " " + *in.UpdateExpression
		// The table refuses placeholders that nothing uses.
		maps.DeleteFunc(in.ExpressionAttributeNames, func(name, _ string) bool { return !uses(text, name) })
		maps.DeleteFunc(in.ExpressionAttributeValues, func(name string, _ types.AttributeValue) bool {
			return !uses(text, name)
		})
	}
	return c.API.UpdateItem(ctx, in, options...)
}

// uses tells whether an expression has that placeholder.
func uses(expression, placeholder string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(expression, func(r rune) bool {
		return strings.ContainsRune(" ,()=<>.", r)
	}), func(word string) bool { return word == placeholder })
}

const notSettled = "attribute_not_exists(settled)"

// Each clause of the conditions is there for a history that breaks without it.
func TestTheModelMissesEachClause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, clause, instead string
		seed                        uint64
	}{
		{"claim: status", "attribute_not_exists(#k)", "#s=:s AND ", "", 0},
		{"claim: hash", "attribute_not_exists(#k)", "validation=:v AND ", "", 0},
		{"claim: expiration", "attribute_not_exists(#k)", "expiration>:n AND ", "", 0},
		{"claim: lease", "attribute_not_exists(#k)", " AND in_progress_expiration<=:t", "", 0},
		{"replace: all", ":seen_owner", "", "attribute_exists(#o)", 0},
		{"settle: owner", ":me", "#o=:me AND ", "", 0},
		{"settle: status", ":me", " AND #s=:1", "", 0},
		{"alone, renew: settled", notSettled, notSettled, "attribute_exists(claims)", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := simulation.Find(t, func(t *testing.T) idem.Store {
				l := newLedger(t)
				return forgetful{dynamo.New(tampering{pausing{l}, c.kind, c.clause, c.instead}, table, nil), l}
			}, simulation.ModelOptions{Histories: 4000, Seed: c.seed})
			if v == nil {
				t.Fatal("the model lets it pass")
			}
			t.Logf("seed %d: %s: %s", v.Seed, v.Rule, v.Detail)
		})
	}
}
