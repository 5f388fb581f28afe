package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// claim is a conditional put as an idempotency store makes it: it wins when
// there is no record, when the record has expired, or when it is of a run that
// has taken too long.
func (e *ddbEnv) claim(ctx context.Context, table, id string, now time.Time) error {
	_, err := e.c.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &table,
		Item: item{"id": avS(id), "status": avS("INPROGRESS"), "expiration": avN(now.Add(time.Hour).Unix()),
			"in_progress_expiration": avN(now.Add(time.Minute).UnixMilli()), "by": avS("claimer")},
		ConditionExpression: aws.String(
			"attribute_not_exists(#id) OR #exp < :now OR (#st = :inprog AND attribute_exists(#ip) AND #ip < :nowms)",
		),
		ExpressionAttributeNames: map[string]string{
			"#id":  "id",
			"#exp": "expiration",
			"#st":  "status",
			"#ip":  "in_progress_expiration",
		},
		ExpressionAttributeValues: item{
			":now":    avN(now.Unix()),
			":inprog": avS("INPROGRESS"),
			":nowms":  avN(now.UnixMilli()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

const (
	wins  = "PutItem replaces an item when its condition is true: "
	loses = "PutItem fails with ConditionalCheckFailedException, which carries the old item (ALL_OLD), and changes " +
		"nothing when its condition is false: "
)

// record describes the item that a claim finds; its times are from now on.
type record struct {
	status              string
	expiration, timeout time.Duration // 0: none
}

func (r record) item(now time.Time) item {
	it := item{"id": avS("k"), "by": avS("old"), "status": avS(r.status)}
	if r.expiration != 0 {
		it["expiration"] = avN(now.Add(r.expiration).Unix())
	}
	if r.timeout != 0 {
		it["in_progress_expiration"] = avN(now.Add(r.timeout).UnixMilli())
	}
	return it
}

// ddbClaimChecks are claims of a key that has some record.
func ddbClaimChecks() []check[*ddbEnv] {
	const past, future, rightNow = -time.Hour, time.Hour, time.Nanosecond
	var cs []check[*ddbEnv]
	for _, k := range []struct {
		name, doc string
		old       record
	}{
		{"absent", wins + "attribute_not_exists of an item that does not exist.", record{}},
		{"completed", loses + "all three comparisons are false.", record{"COMPLETED", future, 0}},
		{"completed-expired", wins + "a number is less than the value.", record{"COMPLETED", past, 0}},
		{"in-progress", loses + "the last operand of an AND is false.", record{"INPROGRESS", future, future}},
		{"in-progress-timed-out", wins + "all operands of an AND are true.", record{"INPROGRESS", future, past}},
		{"in-progress-without-timeout", loses + "attribute_exists of a missing attribute.", record{"INPROGRESS", future, 0}},
		{"in-progress-expired", wins + "one operand of an OR is true.", record{"INPROGRESS", past, future}},
		{"completed-with-passed-timeout", loses + "the first operand of an AND is false.", record{"COMPLETED", future, past}},
		{"without-expiration", loses + "a comparison with a missing attribute is false.", record{"COMPLETED", 0, 0}},
		{"expires-now", loses + "a number is not less than an equal one.", record{"COMPLETED", rightNow, 0}},
	} {
		cs = append(cs, check[*ddbEnv]{
			id:  "ddb/conditions/claim-" + k.name,
			doc: k.doc,
			run: func(t T, e *ddbEnv) {
				now := time.Now().Truncate(time.Second)
				var old item
				if k.old.status != "" {
					old = k.old.item(now)
				}
				e.wantClaim(t, old, now, strings.HasPrefix(k.doc, wins))
			},
		})
	}
	return append(cs, check[*ddbEnv]{
		id:  "ddb/conditions/claim-expiration-of-type-string",
		doc: loses + "a comparison of a string with a number is false.",
		run: func(t T, e *ddbEnv) {
			old := record{status: "COMPLETED"}.item(time.Now())
			old["expiration"] = avS("0")
			e.wantClaim(t, old, time.Now(), false)
		},
	})
}

// wantClaim claims a key over an item, or over none.
func (e *ddbEnv) wantClaim(t T, old item, now time.Time, win bool) {
	t.Helper()
	table := e.table(t)
	if old != nil {
		e.put(t, table, old)
	}
	err := e.claim(t.Context(), table, "k", now)
	if win {
		must(t, "PutItem", err)
		equal(t, "stored by", show(e.get(t, table, "k"), "by"), "claimer")
		return
	}
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("want ConditionalCheckFailedException, got %s", describe(err))
	}
	equal(t, "item of the exception by", show(failed.Item, "by"), "old")
	equal(t, "stored by", show(e.get(t, table, "k"), "by"), "old")
}

// race makes 64 claims of one key at the same time and tells what was wrong.
func (e *ddbEnv) race(t T, table, id string, now time.Time) string {
	var won, other atomic.Int64
	var odd atomic.Value
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 64 {
		wg.Go(func() {
			<-start
			switch err := e.claim(t.Context(), table, id, now); {
			case err == nil:
				won.Add(1)
			case !isError[*types.ConditionalCheckFailedException](err):
				other.Add(1)
				odd.Store(describe(err))
			}
		})
	}
	close(start)
	wg.Wait()
	if won.Load() == 1 && other.Load() == 0 {
		return ""
	}
	return fmt.Sprintf("%d winners, %d other errors, %v", won.Load(), other.Load(), odd.Load())
}
