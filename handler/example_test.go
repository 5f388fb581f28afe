package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

func Example() {
	type Order struct {
		ID string `json:"id"`
	}
	ship := func(_ context.Context, o Order) error {
		if o.ID == "o-2" {
			return fault.Retryable(errors.New("shipping service is busy"))
		}
		return nil
	}
	p := must(handler.NewProcessor(handler.JSON(ship), &handler.Options{Logger: slog.New(slog.DiscardHandler)}))
	response, err := p.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "m1", Body: `{"id":"o-1"}`},
		{MessageId: "m2", Body: `{"id":"o-2"}`},
	}})
	answer, _ := json.Marshal(response)
	fmt.Println(string(answer), err)
	// Output: {"batchItemFailures":[{"itemIdentifier":"m2"}]} <nil>
}

func ExampleChain() {
	say := func(name string) handler.Middleware {
		return func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				fmt.Println(name)
				return next(ctx, m)
			}
		}
	}
	f := handler.Chain(say("outer"), say("inner"))(func(context.Context, *handler.Message) error {
		fmt.Println("function")
		return nil
	})
	_ = f(context.Background(), &handler.Message{})
	// Output:
	// outer
	// inner
	// function
}
