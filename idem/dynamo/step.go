package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/idem"
)

// stepTries bounds the writes for one step. A second is needed only where an
// earlier step was recorded although the caller was told that it failed.
const stepTries = 3

// RecordStep implements [idem.Store]. Its errors are [*idem.LateError],
// [ErrContended] and those of the client.
func (s *Store) RecordStep(ctx context.Context, c idem.Claim, step idem.StepRecord) error {
	first := step.First
	for range stepTries {
		_, err := s.update(ctx, c.ID, recordStep(c, step, first))
		if err == nil {
			return nil
		}
		item, err := s.refusal(c.ID, idem.SettleStep.String(), err)
		if err != nil {
			return err
		}
		if done, err := step.Recorded(item, c); done || err != nil {
			return err
		}
		first = len(item.Steps) == 0
	}
	return fmt.Errorf("dynamo: step in table %s: %w", s.table, ErrContended)
}

// recordStep is the write of a step. A map has to be there before a member of it
// can be set, so that the first step brings the map. Neither form takes
// anything away, however late it arrives.
func recordStep(c idem.Claim, step idem.StepRecord, first bool) *update {
	u := newUpdate()
	u.condition = u.name(attributeOwner) + "=" + u.value(me, text(c.Owner)) +
		" AND " + u.name(attributeStatus) + "=" + u.next(text(string(idem.StatusInProgress))) +
		" AND " + u.stillUnsettled(c)
	if first {
		u.set(attributeSteps, encodeSteps(map[string]string{step.Name: step.Result}))
		u.condition += " AND attribute_not_exists(#steps)"
		return u
	}
	u.names["#step"] = step.Name
	u.sets = append(u.sets, u.name(attributeSteps)+".#step="+u.next(text(step.Result)))
	u.condition += " AND attribute_exists(#steps) AND attribute_not_exists(#steps.#step)"
	return u
}

func encodeSteps(steps map[string]string) types.AttributeValue {
	members := attributes{}
	for name, result := range steps {
		members[name] = text(result)
	}
	return &types.AttributeValueMemberM{Value: members}
}

// steps reads the steps that are done; nil if there are none.
func (r *reader) steps() map[string]string {
	switch v := r.from[attributeSteps].(type) {
	case nil:
	case *types.AttributeValueMemberM:
		members := reader{from: v.Value}
		steps := make(map[string]string, len(v.Value))
		for name := range v.Value {
			steps[name] = members.text(name)
		}
		if members.err != nil {
			r.fail(attributeSteps, "a map of strings", members.err)
		}
		return steps
	default:
		r.fail(attributeSteps, "a map", fmt.Errorf("it is %T", v))
	}
	return nil
}
