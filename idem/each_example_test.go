package idem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
)

// A notification of three photos: one is done at once, one at the second attempt,
// one never. The dead letter is about the last, and nothing is done twice.
func ExampleEach() {
	t := new(testing.T) // in a test, the one that it is given
	attempts := 0
	shrink := func(_ context.Context, r events.S3EventRecord) error {
		switch key := r.S3.Object.Key; {
		case key == "broken.png":
			return fault.Permanent(errors.New("no picture"), fault.WithReason("no_picture"))
		case key == "large.png" && attempts == 1:
			return fault.RetryAfter(time.Minute, errors.New("out of memory"))
		}
		fmt.Println("done:", r.S3.Object.Key)
		return nil
	}
	job := handler.JSON(func(ctx context.Context, e events.S3Event) error {
		attempts++
		name := func(r events.S3EventRecord) string { return r.S3.Object.Key + "@" + r.S3.Object.Sequencer }
		return idem.Each(ctx, e.Records, name, shrink)
	})
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
	}
	q := handlertest.Queue{Handler: job, Options: handler.Options{Ledger: ledger}}
	var photos events.S3Event
	for _, key := range []string{"cat.png", "broken.png", "large.png"} {
		photos.Records = append(photos.Records, events.S3EventRecord{
			S3: events.S3Entity{Object: events.S3Object{Key: key, Sequencer: "01"}},
		})
	}
	body, _ := json.Marshal(photos)
	report := q.Run(t, handlertest.Message{Body: string(body)})
	fmt.Println(report.Job("m1").Outcomes())
	fmt.Println(report.Job("m1").Letter.Failure.Message)
	// Output:
	// done: cat.png
	// done: large.png
	// [retry dead]
	// 1 of 3 items failed: "broken.png@01" (permanent): no picture
}
