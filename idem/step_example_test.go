package idem_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

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
			return fault.Permanent(errors.New("no mail server"))
		}
		fmt.Println("mailing with the key", idem.Key(ctx))
		return nil
	}
	once := idem.Middleware(idem.NewMemory(), &idem.Options{
		Key: idem.JSONField("id"), Logger: slog.New(slog.DiscardHandler),
	})(func(ctx context.Context, _ *handler.Message) error {
		if err := idem.Step(ctx, "charge", charge); err != nil {
			return err
		}
		return idem.Step(ctx, "email", email)
	})

	m := message("m1", `{"id":"o-7"}`)
	dead := m.Resolve(context.Background(), once(context.Background(), m))
	fmt.Println(dead.Outcome)

	mailServerUp = true
	replayed := message("m2", `{"id":"o-7"}`)
	replayed.Replay = &handler.Replay{Key: dead.Failure.Key, Epoch: dead.Failure.Epoch, Verdict: true}
	fmt.Println(replayed.Resolve(context.Background(), once(context.Background(), replayed)).Outcome)
	// Output:
	// charging with the key o-7#charge
	// dead
	// mailing with the key o-7#email
	// done
}

func ExampleStepValue() {
	once := idem.Middleware(idem.NewMemory(), nil)(func(ctx context.Context, _ *handler.Message) error {
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
	})
	fmt.Println(once(context.Background(), message("m1", "")))
	// Output:
	// receipt for ch_1
	// <nil>
}
