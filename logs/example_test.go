package logs_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/logs"
)

// Order is a payload.
type Order struct {
	ID string `json:"id"`
}

func Example() {
	// In a main: sqsafe.NewLogger(os.Stderr).Handler(), and slog.SetDefault(logger).
	logger, err := logs.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ship := func(ctx context.Context, _ Order) error {
		logger.InfoContext(ctx, "shipped", "carrier", "snail")
		return nil
	}
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		fmt.Println(err)
		return
	}
	quiet := slog.New(slog.DiscardHandler)
	p, err := handler.NewProcessor(handler.JSON(ship), &handler.Options{Ledger: ledger, Logger: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = p.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "m1", Body: `{"id":"o-7"}`, EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:orders",
	}}})
	fmt.Println(err)
	// Output:
	// level=INFO msg=shipped carrier=snail key=o-7 messageId=m1 attempt=1 queue=orders
	// <nil>
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
