package ledger

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// FuzzDecode puts any value into every attribute: all of them can be shown.
func FuzzDecode(f *testing.F) {
	f.Add("DEAD", "1800000000", `{"attempts":[{"n":1}]}`)
	f.Add("INPROGRESS", "-1", "{")
	f.Add("", "9223372036854775807", `[]`)
	f.Add("x", "1e9", `null`)
	f.Fuzz(func(t *testing.T, status, number, document string) {
		n := &types.AttributeValueMemberN{Value: number}
		e := Decode("id", item{
			"id": text("q#k"), "status": text(status), expiration: n, lease: n, deadAt: n, claims: n, epoch: n,
			history: text(document), verdict: text(document),
		})
		for _, name := range []string{expiration, claims} {
			if value, ok := e.Other[name].(json.Number); ok && value.String() != number {
				t.Errorf("%s shows %s, the item has %s", name, value, number)
			}
		}
		e.Other = nil // DynamoDB accepts valid numbers only, this test does not
		if _, err := json.Marshal(e); err != nil {
			t.Errorf("it cannot be shown: %v", err)
		}
	})
}
