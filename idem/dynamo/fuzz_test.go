package dynamo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
)

// holding is a table that has one item, which refuses the first write.
type holding struct {
	item   map[string]types.AttributeValue
	writes int
}

func (h *holding) UpdateItem(
	_ context.Context, _ *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	if h.writes++; h.writes == 1 {
		return nil, &types.ConditionalCheckFailedException{Item: h.item}
	}
	return &dynamodb.UpdateItemOutput{}, nil
}

// An item that anybody has written is understood or refused by name. What is understood
// lets a message that was sent after the job's death run.
func FuzzItem(f *testing.F) {
	f.Add("DEAD", "3", "2", "1", "1796040030000", "1796043600", `{"reason":"declined","attempts":3}`, `{}`, "dead-1")
	f.Add("INPROGRESS", "9223372036854775807", "-1", "1e3", "0", "-5", `{`, `{"attempts":[{"n":1e9}]}`, "")
	f.Add("DEAD", "1", "0", "9223372036854775807", "9223372036854775807", "9223372036854775807", `null`, `null`, "x")
	f.Add("COMPLETED", "1.5", "", "1", "x", "1", `[]`, `7`, "")
	f.Add("OTHER", "1", "1", "-9223372036854775808", "1", "99999999999", `{"epoch":1e400}`, `{"dropped":-1}`, "")
	f.Fuzz(func(t *testing.T, status, claims, settled, epoch, lease, expiration, verdict, history, letter string) {
		item := map[string]types.AttributeValue{
			"id": text("charges#k"), "status": text(status), "claims": number(claims), "settled": number(settled),
			"epoch": number(epoch), "in_progress_expiration": number(lease), "expiration": number(expiration),
			"verdict": text(verdict), "history": text(history), "message_id": text("m0"), "owner": text("o0"),
			"validation": text("test1:aaaa"),
		}
		if letter != "" {
			item["dlq_message_id"] = text(letter)
		}
		store := dynamo.New(&holding{item: item}, table, nil)
		r := request("o1", now)
		r.MessageID, r.SentAt = "m1", time.Time{}
		answer, err := store.Acquire(t.Context(), r)
		if err != nil {
			if !strings.Contains(err.Error(), `"charges#k"`) {
				t.Errorf("the error does not name the item: %v", err)
			}
			return
		}
		if status == string(idem.StatusDead) && answer.Kind != idem.AnswerAcquired {
			t.Errorf("a message sent after the death is answered with %v, want it to run", answer.Kind)
		}
		if answer.Kind == idem.AnswerAcquired && (answer.Claims < answer.Settled-1 || answer.Job.Epoch < 0) {
			t.Errorf("claims %d, settled %d, epoch %d of what may run", answer.Claims, answer.Settled, answer.Job.Epoch)
		}
	})
}
