package dynamodb_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// model is the expected content of the table jobs: by id the numbers v and n,
// if present.
type model map[string]record

type record struct{ v, n *int }

// write is a random request, with its expected effect on a record that exists
// or not.
type write struct {
	operation, body string
	holds           func(r record, exists bool) bool
	effect          func(r record, exists bool) (record, bool)
}

func (r record) json(id string) string {
	text := fmt.Sprintf(`{"id":{"S":%q}`, id)
	if r.n != nil {
		text += fmt.Sprintf(`,"n":{"N":"%d"}`, *r.n)
	}
	if r.v != nil {
		text += fmt.Sprintf(`,"v":{"N":"%d"}`, *r.v)
	}
	return text + "}"
}

// drawWrite generates a write to the id under a random condition.
func drawWrite(t *rapid.T, id string) write {
	bound, amount := rapid.IntRange(0, 5).Draw(t, "bound"), rapid.IntRange(0, 5).Draw(t, "amount")
	conditions := []struct {
		text  string
		holds func(r record, exists bool) bool
	}{
		{"attribute_not_exists(id) OR :c = :c", func(record, bool) bool { return true }},
		{"attribute_not_exists(id) AND :c = :c", func(_ record, exists bool) bool { return !exists }},
		{"v < :c", func(r record, _ bool) bool { return r.v != nil && *r.v < bound }},
		{"attribute_not_exists(id) OR v >= :c", func(r record, exists bool) bool {
			return !exists || r.v != nil && *r.v >= bound
		}},
		{"attribute_exists(n) AND NOT n = :c", func(r record, _ bool) bool { return r.n != nil && *r.n != bound }},
	}
	condition := rapid.SampledFrom(conditions).Draw(t, "condition")
	common := fmt.Sprintf(`{"TableName":"jobs","ConditionExpression":%q,"ReturnValuesOnConditionCheckFailure":"ALL_OLD",
		"ExpressionAttributeValues":{":c":{"N":"%d"}`, condition.text, bound)
	key := fmt.Sprintf(`,"Key":{"id":{"S":%q}}`, id)
	value := fmt.Sprintf(`,":v":{"N":"%d"}}`, amount)
	writes := []write{
		{"PutItem", common + `},"Item":` + record{v: &amount}.json(id) + `}`, condition.holds,
			func(record, bool) (record, bool) { return record{v: &amount}, true }},
		{"DeleteItem", common + `}` + key + `}`, condition.holds,
			func(record, bool) (record, bool) { return record{}, false }},
		{"UpdateItem", common + value + key + `,"UpdateExpression":"SET v = :v REMOVE n"}`, condition.holds,
			func(record, bool) (record, bool) { return record{v: &amount}, true }},
		{"UpdateItem", common + value + key + `,"UpdateExpression":"ADD n :v"}`, condition.holds,
			func(r record, _ bool) (record, bool) {
				n := amount
				if r.n != nil {
					n += *r.n
				}
				return record{r.v, &n}, true
			}},
	}
	return rapid.SampledFrom(writes).Draw(t, "write")
}

// Random conditional writes change the table as they change the model. The
// error of a failed condition has the item.
func TestWritesMatchTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, want := withTables(t), make(model)
		for range rapid.IntRange(1, 30).Draw(rt, "writes") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
			w := drawWrite(rt, id)
			old, exists := want[id]
			_, err := s.call(t, w.operation, w.body)
			if w.holds(old, exists) {
				if err != nil {
					rt.Fatalf("%s %s: %v", w.operation, w.body, err)
				}
				delete(want, id)
				if updated, stays := w.effect(old, exists); stays {
					want[id] = updated
				}
			} else {
				checkRefusal(rt, t, err, old, id, exists)
			}
			checkStored(rt, t, s, want, id)
		}
	})
}

func checkRefusal(rt *rapid.T, t *testing.T, err error, old record, id string, exists bool) {
	refusal, ok := errors.AsType[*protocol.Error](err)
	if !ok || refusal.Code != "ConditionalCheckFailedException" {
		rt.Fatalf("the condition is false of %s: %v", old.json(id), err)
	}
	got, shown := refusal.Fields["Item"]
	if shown != exists || shown && marshal(t, got) != old.json(id) {
		rt.Fatalf("item of the refusal is %v, want %s", got, old.json(id))
	}
}

func checkStored(rt *rapid.T, t *testing.T, s service, want model, id string) {
	got, err := s.call(t, "GetItem", fmt.Sprintf(`{"TableName":"jobs","Key":{"id":{"S":%q}}}`, id))
	if err != nil {
		rt.Fatal(err)
	}
	stored := `{}`
	if r, ok := want[id]; ok {
		stored = `{"Item":` + r.json(id) + `}`
	}
	if got != stored {
		rt.Fatalf("stored is %s, want %s", got, stored)
	}
}
