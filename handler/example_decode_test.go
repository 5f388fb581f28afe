package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/handler"
)

// Any function like json.Unmarshal will do: goccy/go-json's Unmarshal, sonic.ConfigStd's,
// or one that calls easyjson's for a type with generated code. This one keeps numbers as
// they are written, which json.Unmarshal turns into float64.
func ExampleDecodeWith() {
	exact := func(data []byte, into any) error {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		return d.Decode(into)
	}
	type Reading struct {
		Value any `json:"value"`
	}
	store := func(_ context.Context, r Reading) error {
		fmt.Println(r.Value)
		return nil
	}
	p := must(handler.NewProcessor(
		handler.JSON(store, handler.DecodeWith(exact)), &handler.Options{Logger: slog.New(slog.DiscardHandler)}))
	_, err := p.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "m1", Body: `{"value":12345678901234567891}`},
	}})
	fmt.Println(err)
	// Output:
	// 12345678901234567891
	// <nil>
}
