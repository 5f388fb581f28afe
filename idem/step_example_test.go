package idem_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// The mail server fails once. The card is not charged again.
func ExampleStep() {
	mailServerUp := false
	charge := func(ctx context.Context) error {
		fmt.Println("charging with the key", idem.Key(ctx))
		return nil
	}
	email := func(ctx context.Context) error {
		if !mailServerUp {
			return fault.Permanent(errors.New("no mail server"), fault.WithReason("no_mail"))
		}
		fmt.Println("mailing with the key", idem.Key(ctx))
		return nil
	}
	job := func(ctx context.Context, _ *handler.Message) error {
		if err := idem.Step(ctx, "charge", charge); err != nil {
			return err
		}
		return idem.Step(ctx, "email", email)
	}
	p := processor(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")}, job)
	deliver(p, message("m1", `{"id":"o-7"}`))

	mailServerUp = true
	replayed := message("m2", `{"id":"o-7"}`)
	key := "o-7" // as the dead-letter record has it
	replayed.MessageAttributes = map[string]events.SQSMessageAttribute{"replayOf": {StringValue: &key}}
	deliver(p, replayed)
	// Output:
	// charging with the key o-7#charge
	// 1 dead (no_mail)
	// mailing with the key o-7#email
	// 1 done
}

func ExampleStepValue() {
	job := func(ctx context.Context, _ *handler.Message) error {
		chargeID, err := idem.StepValue(ctx, "charge", func(context.Context) (string, error) {
			return "ch_1", nil // as the provider answers
		})
		if err != nil {
			return err
		}
		return idem.Step(ctx, "receipt", func(context.Context) error {
			fmt.Println("receipt for", chargeID)
			return nil
		})
	}
	deliver(processor(idem.NewMemory(), nil, job), message("m1", ""))
	// Output:
	// receipt for ch_1
	// 1 done
}
