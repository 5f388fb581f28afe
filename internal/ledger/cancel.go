package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
)

// ReasonWithdrawn is the reason, and the rule, of a job that somebody has cancelled. The
// reason "cancelled" is that of a run whose process is stopping.
const ReasonWithdrawn = "withdrawn"

// ErrEnded says that a job has ended, so that there is nothing to cancel.
var ErrEnded = errors.New("the job has ended")

// Cancel writes a verdict for a job that has not ended, if its item is still equal to e:
// the next delivery of the job sends its message to the dead-letter queue, and does not
// run it. Fence is a new owner, so that a run that is under way cannot record its result.
// Its errors are [ErrEnded], [ErrChanged] and those of the client.
func (t *Table) Cancel(ctx context.Context, e *Entry, reason, fence string, now time.Time) error {
	if e.Status != "INPROGRESS" || e.State(now) == StateExpired {
		return ErrEnded
	}
	failure, err := json.Marshal(e.cancelled(reason, now))
	if err != nil {
		return fmt.Errorf("verdict: %w", err)
	}
	conditions, names, values := e.asSeen()
	maps.Copy(names, map[string]string{"#verdict": verdict, "#dead_at": deadAt})
	maps.Copy(values, item{
		":dead": text("DEAD"), ":new": text(fence), ":now": number(now.UnixMilli()), ":verdict": text(string(failure)),
	})
	_, err = t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &t.Name, Key: item{t.key: text(e.ID)},
		UpdateExpression: aws.String("SET #" + status + " = :dead, #" + owner + " = :new, #" + lease + " = :now, " +
			"#dead_at = :now, #verdict = :verdict"),
		ConditionExpression:                 aws.String(strings.Join(conditions, " AND ")),
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if now := Decode(t.key, refused.Item); now.Status == "DEAD" && now.Owner == fence {
			return nil // the answer to an earlier attempt was lost
		}
		return ErrChanged
	}
	return err
}

// cancelled returns the verdict of a job that is cancelled.
func (e *Entry) cancelled(reason string, now time.Time) handler.Failure {
	_, key, _ := strings.Cut(e.ID, "#")
	if strings.HasPrefix(key, "sha256:") { // the key itself is not known
		key = ""
	}
	f := handler.Failure{
		Class: "permanent", Reason: ReasonWithdrawn, Rule: ReasonWithdrawn, Message: "withdrawn: " + reason,
		Fingerprint: ReasonWithdrawn, Key: key, Epoch: e.Epoch, Verdict: true, Attempts: e.Attempts,
		First: handler.NewTimestamp(now), Last: handler.NewTimestamp(now), History: e.History,
	}
	if len(e.History.Attempts) > 0 {
		f.First = e.History.Attempts[0].End
	}
	return f
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
