package dynamodb_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func marshal(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	putA = `{"Put":{"TableName":"jobs","Item":{"id":{"S":"a"}}}}`
	addB = `{"Update":{"TableName":"jobs","Key":{"id":{"S":"b"}},"UpdateExpression":"ADD n :n",
		"ExpressionAttributeValues":{":n":{"N":"1"}}}}`
	dropC  = `{"Delete":{"TableName":"jobs","Key":{"id":{"S":"c"}}}}`
	checkD = `{"ConditionCheck":{"TableName":"jobs","Key":{"id":{"S":"d"}},"ConditionExpression":"attribute_exists(id)",
		"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}`
	newC = `{"Put":{"TableName":"jobs","Item":{"id":{"S":"c"}},"ConditionExpression":"attribute_not_exists(id)",
		"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}`
)

func transaction(members string, actions ...string) string {
	return `{"TransactItems":[` + strings.Join(actions, ",") + `]` + members + `}`
}

func TestTransactionDoesAllOrNothing(t *testing.T) {
	t.Parallel()
	get := func(id string) string { return `{"TableName":"jobs","Key":{"id":{"S":"` + id + `"}}}` }
	s := withTables(t)
	s.run(t,
		step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"c"},"v":{"N":"7"}}}`, `{}`, ""},
		step{"TransactWriteItems", transaction("", putA, addB, dropC, checkD), "",
			"TransactionCanceledException: specific reasons [None, None, None, ConditionalCheckFailed]"},
		step{"GetItem", get("a"), `{}`, ""},
		step{"GetItem", get("b"), `{}`, ""},
		step{"GetItem", get("c"), `{"Item":{"id":{"S":"c"},"v":{"N":"7"}}}`, ""},
		step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"d"}}}`, `{}`, ""},
		step{"TransactWriteItems", transaction("", putA, addB, dropC, checkD), `{}`, ""},
		step{"GetItem", get("a"), `{"Item":{"id":{"S":"a"}}}`, ""},
		step{"GetItem", get("b"), `{"Item":{"id":{"S":"b"},"n":{"N":"1"}}}`, ""},
		step{"GetItem", get("c"), `{}`, ""},
		step{"GetItem", get("d"), `{"Item":{"id":{"S":"d"}}}`, ""})
}

func TestCancellationReasonsAreInTheOrderOfTheActions(t *testing.T) {
	t.Parallel()
	s := withTables(t)
	s.run(t,
		step{operation: "PutItem", body: `{"TableName":"jobs","Item":{"id":{"S":"c"},"v":{"N":"7"}}}`},
		step{operation: "PutItem", body: `{"TableName":"jobs","Item":{"id":{"S":"b"},"n":{"S":"x"}}}`})
	_, err := s.call(t, "TransactWriteItems", transaction("", newC, putA, addB))
	r := wantRefused(t, err, "TransactionCanceledException: [ConditionalCheckFailed, None, ValidationError]")
	want := `[{"Code":"ConditionalCheckFailed","Message":"The conditional request failed",` +
		`"Item":{"id":{"S":"c"},"v":{"N":"7"}}},` +
		`{"Code":"None"},` +
		`{"Code":"ValidationError","Message":"An operand in the update expression has an incorrect data type"}]`
	if got := marshal(t, r.Fields["CancellationReasons"]); got != want {
		t.Errorf("reasons: got %s, want %s", got, want)
	}
}

func TestTransactionsThatAreRefused(t *testing.T) {
	t.Parallel()
	many := make([]string, 101)
	for i := range many {
		many[i] = strings.Replace(putA, `"a"`, fmt.Sprintf(`"a%d"`, i), 1)
	}
	for _, c := range []struct{ body, refused string }{
		{transaction(""), "ValidationException: at 'transactItems'"},
		{transaction("", many...), "ValidationException: at 'transactItems'"},
		{transaction("", `{}`), "ValidationException: can only contain one of Check, Put, Update or Delete"},
		{transaction("", putA[:len(putA)-1]+","+dropC[1:]), "ValidationException: can only contain one of"},
		{transaction("", putA, strings.Replace(dropC, `"c"`, `"a"`, 1)),
			"ValidationException: multiple operations on one item"},
		{transaction("", strings.Replace(putA, "jobs", "none", 1)), "ResourceNotFoundException"},
		{transaction("", `{"ConditionCheck":{"TableName":"jobs","Key":{"id":{"S":"d"}}}}`),
			"ValidationException: ConditionCheck"},
		{transaction("", strings.Replace(addB, "ADD", "PUT", 1)), "ValidationException: Invalid UpdateExpression"},
		{transaction(`,"ClientRequestToken":""`, putA), "ValidationException: at 'clientRequestToken'"},
		{transaction(`,"ClientRequestToken":"`+strings.Repeat("x", 37)+`"`, putA),
			"ValidationException: at 'clientRequestToken'"},
	} {
		_, err := withTables(t).call(t, "TransactWriteItems", c.body)
		wantRefused(t, err, c.refused)
	}
}

func TestClientRequestTokenMakesATransactionIdempotent(t *testing.T) {
	t.Parallel()
	const getB = `{"TableName":"jobs","Key":{"id":{"S":"b"}},"ProjectionExpression":"n"}`
	const token = `,"ClientRequestToken":"t1"`
	s := withTables(t)
	s.run(t,
		step{"TransactWriteItems", transaction(token, addB), `{}`, ""},
		step{"TransactWriteItems", transaction(token, addB), `{}`, ""},
		step{"GetItem", getB, `{"Item":{"n":{"N":"1"}}}`, ""},
		step{"TransactWriteItems", transaction(token, addB, putA), "", "IdempotentParameterMismatchException"},
		step{"TransactWriteItems", transaction("", addB), `{}`, ""},
		step{"GetItem", getB, `{"Item":{"n":{"N":"2"}}}`, ""})
	s.clock.now = s.clock.now.Add(10*time.Minute - time.Second)
	s.run(t,
		step{"TransactWriteItems", transaction(token, addB), `{}`, ""},
		step{"GetItem", getB, `{"Item":{"n":{"N":"2"}}}`, ""})
	s.clock.now = s.clock.now.Add(time.Second)
	s.run(t,
		step{"TransactWriteItems", transaction(token, addB), `{}`, ""},
		step{"GetItem", getB, `{"Item":{"n":{"N":"3"}}}`, ""})
}

func TestCancelledTransactionDoesNotUseItsToken(t *testing.T) {
	t.Parallel()
	const token = `,"ClientRequestToken":"t1"`
	withTables(t).run(t,
		step{"TransactWriteItems", transaction(token, checkD), "", "TransactionCanceledException"},
		step{"TransactWriteItems", transaction(token, putA), `{}`, ""})
}

func TestTransactGetItems(t *testing.T) {
	t.Parallel()
	get := func(id string) string {
		return `{"Get":{"TableName":"jobs","Key":{"id":{"S":"` + id + `"}},"ProjectionExpression":"n"}}`
	}
	withTables(t).run(t,
		step{"PutItem", `{"TableName":"jobs","Item":{"id":{"S":"a"},"n":{"N":"3"},"v":{"N":"4"}}}`, `{}`, ""},
		step{"TransactGetItems", transaction("", get("a"), get("none")), `{"Responses":[{"Item":{"n":{"N":"3"}}},{}]}`, ""},
		step{"TransactGetItems", transaction(""), "", "ValidationException: at 'transactItems'"},
		step{"TransactGetItems", transaction("", `{}`), "", "ValidationException: at 'transactItems.1.member.get'"},
		step{"TransactGetItems", transaction("", strings.Replace(get("a"), "jobs", "none", 1)), "",
			"ResourceNotFoundException"})
}
