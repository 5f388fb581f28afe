package dynamo

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
)

// update is a conditional write: the expressions of an UpdateItem call and
// what their placeholders stand for.
type update struct {
	condition    string
	sets, clears []string
	names        map[string]string
	values       attributes
	// whole is the expression where it is always the same; empty where it is
	// made of sets and clears.
	whole string
	// returns says what a successful write gives back; empty for nothing.
	returns types.ReturnValue
}

func newUpdate() *update { return &update{names: map[string]string{}, values: attributes{}} }

// plain are the attributes whose names stand in expressions as they are.
// DynamoDB reserves some of the others, and the key may have any name.
var plain = map[string]bool{
	attributeExpiration: true, attributeLease: true, attributeValidation: true, attributeMessageID: true,
	attributeEpoch: true, attributeClaims: true, attributeSettled: true, attributeCrashes: true,
	attributeCrashStack: true, attributeAttempts: true, attributeUnclassified: true, attributeHistory: true,
	attributeDeadAt: true, attributeVerdict: true, attributeDeadLetterID: true,
}

// short are placeholders for the names of attributes that every write has. A placeholder
// is sent several times, and each byte counts: expressions are a third of a request.
var short = map[string]string{attributeStatus: "#s", attributeOwner: "#o"}

// name is how an expression names an attribute.
func (u *update) name(attribute string) string {
	if plain[attribute] {
		return attribute
	}
	as, ok := short[attribute]
	if !ok {
		as = "#" + attribute
	}
	u.names[as] = attribute
	return as
}

// value is a placeholder for v that has a name of its own.
func (u *update) value(as string, v types.AttributeValue) string {
	u.values[":"+as] = v
	return ":" + as
}

// next is a placeholder for v that is short.
func (u *update) next(v types.AttributeValue) string { return u.value(strconv.Itoa(len(u.values)), v) }

func (u *update) set(attribute string, v types.AttributeValue) {
	u.sets = append(u.sets, u.name(attribute)+"="+u.next(v))
}

// count sets a number whose absence means zero.
func (u *update) count(attribute string, n int) {
	if n == 0 {
		u.clear(attribute)
		return
	}
	u.set(attribute, number(n))
}

func (u *update) clear(attribute string) { u.clears = append(u.clears, u.name(attribute)) }

func (u *update) expression() string {
	if u.whole != "" {
		return u.whole
	}
	var clauses []string
	if len(u.sets) > 0 {
		clauses = append(clauses, "SET "+strings.Join(u.sets, ","))
	}
	if len(u.clears) > 0 {
		clauses = append(clauses, "REMOVE "+strings.Join(u.clears, ","))
	}
	return strings.Join(clauses, " ")
}

const (
	claimed      = "SET #s=:s,#o=:o,message_id=:m,validation=:v,in_progress_expiration=:l,expiration=:e"
	claimUnknown = "attribute_not_exists(#k)"
	claimLapsed  = "#s=:s AND validation=:v AND NOT #o=:o AND expiration>:n AND in_progress_expiration<=:t"
)

// claim is the write of most claims: of a job that the table does not know, or
// whose last claim has lapsed. Everything else refuses it. A replay begins a new
// job in its own epoch, and that is not the one in which it takes over another.
// A request that arrives twice does not claim anew what its first has left.
func (s *Store) claim(r idem.Request) *update {
	u := &update{
		returns:   types.ReturnValueAllOld,
		whole:     claimed + " ADD claims :c",
		condition: claimUnknown + " OR " + claimLapsed,
		names:     map[string]string{"#k": s.key, "#s": attributeStatus, "#o": attributeOwner},
		values: attributes{
			":s": text(string(idem.StatusInProgress)), ":o": text(r.Owner), ":m": text(r.MessageID),
			":v": text(r.Validation), ":l": milliseconds(r.Lease), ":e": seconds(r.Expires), ":c": number(1),
		},
	}
	if r.Epoch > 0 {
		u.whole, u.condition = claimed+",epoch=:p ADD claims :c", claimUnknown
		u.values[":p"] = number(r.Epoch)
		return u
	}
	u.values[":n"], u.values[":t"] = seconds(r.Now), milliseconds(r.Now)
	return u
}

// replace writes all of next in the place of the item that was seen.
func replace(seen, next *idem.Item) (*update, error) {
	after, err := encode(next)
	if err != nil {
		return nil, err
	}
	u := newUpdate()
	u.returns = types.ReturnValueAllOld
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
		attributeSettled, attributeCrashes, attributeSteps,
	} {
		condition := "attribute_not_exists(" + u.name(attribute) + ")"
		if v, ok := before[attribute]; ok {
			condition = u.name(attribute) + "=" + u.value("seen_"+attribute, v)
		}
		conditions = append(conditions, condition)
	}
	u.condition = strings.Join(conditions, " AND ")
	return nil
}

// me is the placeholder for the owner in the writes about a claim.
const me = "me"

// settle writes a settlement for the owner of the claim. What it sets is what
// [idem.Settlement.Apply] changes.
func settle(c idem.Claim, s idem.Settlement) (*update, error) {
	u := newUpdate()
	u.condition = u.name(attributeOwner) + "=" + u.value(me, text(c.Owner)) +
		" AND " + u.name(attributeStatus) + "=" + u.next(text(string(s.Needs())))
	switch s.Kind {
	case idem.SettleConfirm:
		u.set(attributeDeadLetterID, text(s.DeadLetterID))
		return u, nil
	case idem.SettleCrash:
		u.count(attributeCrashes, s.Crashes)
		u.set(attributeCrashStack, text(s.CrashStack))
		u.set(attributeLease, milliseconds(s.Lease))
		return u, nil
	case idem.SettleRenew:
		lease := u.next(milliseconds(s.Lease))
		u.sets = append(u.sets, attributeLease+"="+lease)
		u.condition += " AND " + u.stillUnsettled(c) + " AND " + attributeLease + "<=" + lease
		return u, nil
	case idem.SettleAlone:
		u.count(attributeCrashes, s.Crashes)
		u.condition += " AND " + u.stillUnsettled(c)
		return u, nil
	case idem.SettleComplete:
		u.set(attributeStatus, text(string(idem.StatusCompleted)))
	case idem.SettleVerdict:
		u.set(attributeStatus, text(string(idem.StatusDead)))
		u.set(attributeMessageID, text(c.MessageID))
		u.set(attributeDeadAt, milliseconds(s.DeadAt))
		if s.DeadLetterID == "" {
			u.clear(attributeDeadLetterID)
		} else {
			u.set(attributeDeadLetterID, text(s.DeadLetterID))
		}
	}
	if s.Kind != idem.SettleComplete {
		u.set(attributeLease, milliseconds(s.Lease))
	}
	u.set(attributeSettled, number(s.Settles(c)))
	u.count(attributeCrashes, s.Crashes)
	u.set(attributeExpiration, seconds(s.Expires))
	return u, u.setRun(s)
}

// stillUnsettled is the condition that the claim was not settled. A count of
// zero is left out of an item.
func (u *update) stillUnsettled(c idem.Claim) string {
	if c.Settled == 0 {
		return "attribute_not_exists(" + u.name(attributeSettled) + ")"
	}
	return u.name(attributeSettled) + "=" + u.next(number(c.Settled))
}

// setRun writes what a failed run has left.
func (u *update) setRun(s idem.Settlement) error {
	if s.Kind != idem.SettleRelease && s.Kind != idem.SettleVerdict {
		return nil
	}
	u.count(attributeAttempts, s.Attempts)
	u.count(attributeUnclassified, s.Unclassified)
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
