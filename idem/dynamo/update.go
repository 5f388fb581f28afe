package dynamo

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
)

// update is a conditional write: the expressions of an UpdateItem call and
// what their placeholders stand for.
type update struct {
	condition          string
	sets, adds, clears []string
	names              map[string]string
	values             attributes
}

func newUpdate() *update { return &update{names: map[string]string{}, values: attributes{}} }

// name is the placeholder of an attribute's name. All get one, since DynamoDB
// reserves some of them.
func (u *update) name(attribute string) string {
	u.names["#"+attribute] = attribute
	return "#" + attribute
}

// value is a placeholder for v.
func (u *update) value(as string, v types.AttributeValue) string {
	u.values[":"+as] = v
	return ":" + as
}

func (u *update) set(attribute string, v types.AttributeValue) {
	u.sets = append(u.sets, u.name(attribute)+" = "+u.value(attribute, v))
}

func (u *update) add(attribute string, n int) {
	u.adds = append(u.adds, u.name(attribute)+" "+u.value(attribute, number(n)))
}

func (u *update) clear(attribute string) { u.clears = append(u.clears, u.name(attribute)) }

func (u *update) expression() string {
	var clauses []string
	for _, c := range []struct {
		keyword string
		actions []string
	}{{"SET", u.sets}, {"ADD", u.adds}, {"REMOVE", u.clears}} {
		if len(c.actions) > 0 {
			clauses = append(clauses, c.keyword+" "+strings.Join(c.actions, ", "))
		}
	}
	return strings.Join(clauses, " ")
}

// claim is the write of most claims: of a job that the table does not know, or
// whose last claim has lapsed. Everything else refuses it.
func (s *Store) claim(r idem.Request) *update {
	u := newUpdate()
	u.set(attributeStatus, text(string(idem.StatusInProgress)))
	u.set(attributeOwner, text(r.Owner))
	u.set(attributeMessageID, text(r.MessageID))
	u.set(attributeValidation, text(r.Validation))
	u.set(attributeLease, milliseconds(r.Lease))
	u.set(attributeExpiration, seconds(r.Expires))
	u.add(attributeClaims, 1)
	u.condition = "attribute_not_exists(" + u.name(s.key) + ") OR (" + strings.Join([]string{
		"#status = :status",
		"#validation = :validation",
		"#expiration > " + u.value("now_seconds", seconds(r.Now)),
		"#in_progress_expiration <= " + u.value("now", milliseconds(r.Now)),
	}, " AND ") + ")"
	return u
}

// replace writes all of next in the place of the item that was seen.
func replace(seen, next *idem.Item) (*update, error) {
	after, err := encode(next)
	if err != nil {
		return nil, err
	}
	u := newUpdate()
	for _, attribute := range itemAttributes {
		if v, ok := after[attribute]; ok {
			u.set(attribute, v)
		} else {
			u.clear(attribute)
		}
	}
	return u, u.unchanged(seen)
}

// unchanged makes the write depend on what tells two states of an item apart.
func (u *update) unchanged(seen *idem.Item) error {
	before, err := encode(seen)
	if err != nil {
		return err
	}
	var conditions []string
	for _, attribute := range []string{
		attributeStatus, attributeOwner, attributeEpoch, attributeLease, attributeExpiration, attributeDeadLetterID,
	} {
		condition := "attribute_not_exists(" + u.name(attribute) + ")"
		if v, ok := before[attribute]; ok {
			condition = u.name(attribute) + " = " + u.value("seen_"+attribute, v)
		}
		conditions = append(conditions, condition)
	}
	u.condition = strings.Join(conditions, " AND ")
	return nil
}

// settle writes a settlement for the owner of the claim. What it sets is what
// [idem.Settlement.Apply] changes.
func settle(c idem.Claim, s idem.Settlement) (*update, error) {
	u := newUpdate()
	u.condition = u.name(attributeOwner) + " = " + u.value("me", text(c.Owner)) +
		" AND " + u.name(attributeStatus) + " = " + u.value("needs", text(string(s.Needs())))
	switch s.Kind {
	case idem.SettleConfirm:
		u.set(attributeDeadLetterID, text(s.DeadLetterID))
		return u, nil
	case idem.SettleCrash:
		u.set(attributeCrashes, number(s.Crashes))
		u.set(attributeCrashStack, text(s.CrashStack))
		u.set(attributeLease, milliseconds(s.Lease))
		return u, nil
	case idem.SettleRenew:
		u.set(attributeLease, milliseconds(s.Lease))
		u.condition += " AND " + u.stillUnsettled(c) + " AND #in_progress_expiration <= :in_progress_expiration"
		return u, nil
	case idem.SettleComplete:
		u.set(attributeStatus, text(string(idem.StatusCompleted)))
	case idem.SettleVerdict:
		u.set(attributeStatus, text(string(idem.StatusDead)))
		u.set(attributeMessageID, text(c.MessageID))
		u.set(attributeDeadAt, milliseconds(s.DeadAt))
	}
	if s.Kind != idem.SettleComplete {
		u.set(attributeLease, milliseconds(s.Lease))
	}
	u.set(attributeSettled, number(c.Settled+1))
	u.set(attributeCrashes, number(s.Crashes))
	u.set(attributeExpiration, seconds(s.Expires))
	return u, u.setRun(s)
}

// stillUnsettled is the condition that the claim was not settled. A count of
// zero is left out of an item.
func (u *update) stillUnsettled(c idem.Claim) string {
	if c.Settled == 0 {
		return "attribute_not_exists(" + u.name(attributeSettled) + ")"
	}
	return u.name(attributeSettled) + " = " + u.value(attributeSettled, number(c.Settled))
}

// setRun writes what a failed run has left.
func (u *update) setRun(s idem.Settlement) error {
	if s.Kind != idem.SettleRelease && s.Kind != idem.SettleVerdict {
		return nil
	}
	u.set(attributeAttempts, number(s.Attempts))
	u.set(attributeUnclassified, number(s.Unclassified))
	history, err := encodeHistory(s.History)
	if err != nil {
		return err
	}
	u.set(attributeHistory, history)
	if s.Kind == idem.SettleVerdict && s.Failure != nil {
		verdict, err := encodeVerdict(*s.Failure)
		if err != nil {
			return err
		}
		u.set(attributeVerdict, verdict)
	}
	return nil
}
