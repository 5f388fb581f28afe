package dynamo

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

const (
	attributeID           = "id"
	attributeStatus       = "status"
	attributeExpiration   = "expiration"
	attributeLease        = "in_progress_expiration"
	attributeValidation   = "validation"
	attributeOwner        = "owner"
	attributeMessageID    = "message_id"
	attributeEpoch        = "epoch"
	attributeClaims       = "claims"
	attributeSettled      = "settled"
	attributeCrashes      = "crashes"
	attributeCrashStack   = "crash_stack"
	attributeAttempts     = "attempts"
	attributeUnclassified = "unclassified"
	attributeHistory      = "history"
	attributeDeadAt       = "dead_at"
	attributeVerdict      = "verdict"
	attributeDeadLetterID = "dlq_message_id"
	attributeSteps        = "steps"
)

// itemAttributes are all that an item has besides its key.
var itemAttributes = []string{
	attributeStatus, attributeExpiration, attributeLease, attributeValidation, attributeOwner,
	attributeMessageID, attributeEpoch, attributeClaims, attributeSettled, attributeCrashes,
	attributeCrashStack, attributeAttempts, attributeUnclassified, attributeHistory,
	attributeDeadAt, attributeVerdict, attributeDeadLetterID, attributeSteps,
}

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number[N int | int64](n N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}

func seconds(t time.Time) types.AttributeValue { return number(t.Unix()) }

func milliseconds(t time.Time) types.AttributeValue { return number(t.UnixMilli()) }

// encode gives the item's attributes except for the key. What is zero is left
// out.
func encode(item *idem.Item) (attributes, error) {
	a := attributes{}
	for name, value := range map[string]string{
		attributeStatus: string(item.Status), attributeValidation: item.Validation, attributeOwner: item.Owner,
		attributeMessageID: item.MessageID, attributeCrashStack: item.CrashStack,
		attributeDeadLetterID: item.DeadLetterID,
	} {
		if value != "" {
			a[name] = text(value)
		}
	}
	for name, value := range map[string]int{
		attributeEpoch: item.Epoch, attributeClaims: item.Claims, attributeSettled: item.Settled,
		attributeCrashes: item.Crashes, attributeAttempts: item.Attempts, attributeUnclassified: item.Unclassified,
	} {
		if value != 0 {
			a[name] = number(value)
		}
	}
	if !item.Expiration.IsZero() {
		a[attributeExpiration] = seconds(item.Expiration)
	}
	if !item.Lease.IsZero() {
		a[attributeLease] = milliseconds(item.Lease)
	}
	if !item.DeadAt.IsZero() {
		a[attributeDeadAt] = milliseconds(item.DeadAt)
	}
	if len(item.Steps) > 0 {
		a[attributeSteps] = encodeSteps(item.Steps)
	}
	return a, encodeRecords(a, item)
}

// encodeRecords adds what is kept as JSON.
func encodeRecords(a attributes, item *idem.Item) error {
	if len(item.History.Attempts) > 0 {
		history, err := encodeHistory(item.History)
		if err != nil {
			return err
		}
		a[attributeHistory] = history
	}
	if item.Verdict != nil {
		verdict, err := encodeVerdict(*item.Verdict)
		if err != nil {
			return err
		}
		a[attributeVerdict] = verdict
	}
	return nil
}

// decode reads an item. It names the attribute that it cannot read.
func decode(from attributes) (*idem.Item, error) {
	r := reader{from: from}
	item := &idem.Item{
		Status:       idem.Status(r.text(attributeStatus)),
		Expiration:   r.time(attributeExpiration, time.Second),
		Lease:        r.time(attributeLease, time.Millisecond),
		Validation:   r.text(attributeValidation),
		Owner:        r.text(attributeOwner),
		MessageID:    r.text(attributeMessageID),
		Epoch:        r.count(attributeEpoch),
		Claims:       r.count(attributeClaims),
		Settled:      r.count(attributeSettled),
		Crashes:      r.count(attributeCrashes),
		CrashStack:   r.text(attributeCrashStack),
		Attempts:     r.count(attributeAttempts),
		Unclassified: r.count(attributeUnclassified),
		DeadAt:       r.time(attributeDeadAt, time.Millisecond),
		DeadLetterID: r.text(attributeDeadLetterID),
		Steps:        r.steps(),
	}
	r.json(attributeHistory, &item.History)
	if _, ok := from[attributeVerdict]; ok {
		item.Verdict = &handler.Failure{}
		r.json(attributeVerdict, item.Verdict)
	}
	return item, r.err
}

// reader remembers the first attribute that it cannot read.
type reader struct {
	from attributes
	err  error
}

func (r *reader) fail(name, want string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("attribute %s is not %s: %w", name, want, err)
	}
}

func (r *reader) text(name string) string {
	switch v := r.from[name].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		return v.Value
	default:
		r.fail(name, "a string", fmt.Errorf("it is %T", v))
	}
	return ""
}

func (r *reader) number(name string) (n int64, ok bool) {
	switch v := r.from[name].(type) {
	case nil:
		return 0, false
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err == nil {
			return n, true
		}
		r.fail(name, "a whole number", err)
	default:
		r.fail(name, "a number", fmt.Errorf("it is %T", v))
	}
	return 0, false
}

// maxCount is greater than any number that this package writes. An epoch near the end of
// int64 would have no next one, so that no replay of the job could run.
const maxCount = 1_000_000_000

func (r *reader) count(name string) int {
	n, _ := r.number(name)
	if n < 0 || n > maxCount {
		r.fail(name, "a count", fmt.Errorf("it is %d, want from 0 to %d", n, maxCount))
		return 0
	}
	return int(n)
}

func (r *reader) time(name string, unit time.Duration) time.Time {
	n, ok := r.number(name)
	if !ok {
		return time.Time{}
	}
	if unit == time.Second {
		return time.Unix(n, 0)
	}
	return time.UnixMilli(n)
}

func (r *reader) json(name string, into any) {
	document := r.text(name)
	if document == "" {
		return
	}
	if err := json.Unmarshal([]byte(document), into); err != nil {
		r.fail(name, "what this package writes", err)
	}
}
