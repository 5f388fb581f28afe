package envelope_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

type order struct {
	ID string `json:"id"`
}

func ship(context.Context, order) error { return nil }

func show(_ context.Context, o order) error { fmt.Println("order", o.ID); return nil }

func Example() {
	t := new(testing.T) // in a test, the t of the test
	h := envelope.SNS(handler.JSON(func(ctx context.Context, o order) error {
		tenant, _ := handler.FromContext(ctx).Attribute("tenant")
		fmt.Println("order", o.ID, "of", tenant)
		return nil
	}), nil)
	q := handlertest.Queue{Handler: h}
	q.Run(t, handlertest.Message{
		Body: `{"Type": "Notification", "TopicArn": "arn:aws:sns:eu-west-1:123456789012:orders",
			"Message": "{\"id\": \"o-1\"}", "MessageAttributes": {"tenant": {"Type": "String", "Value": "t-1"}}}`,
	})
	// Output: order o-1 of t-1
}

func ExampleSNS() {
	t := new(testing.T) // in a test, the t of the test
	q := handlertest.Queue{Handler: envelope.SNS(handler.JSON(show), &envelope.SNSOptions{
		Topics: []string{"arn:aws:sns:eu-west-1:123456789012:orders"},
	})}
	letter := q.Run(t, handlertest.Message{Body: `{"id": "o-1"}`}).Job("m1").Letter
	for part := range strings.SplitSeq(letter.Failure.Message, ": ") {
		fmt.Println(part)
	}
	// Output:
	// decode
	// body is a JSON object without Type, want an SNS notification
	// take envelope.SNS away if the subscription has raw message delivery, or set SNSOptions.Raw
}

func ExampleEventBridge() {
	t := new(testing.T) // in a test, the t of the test
	h := envelope.EventBridge(handler.JSON(func(ctx context.Context, o order) error {
		event, _ := envelope.EventFrom(ctx)
		fmt.Println(event.DetailType, event.ID, "has order", o.ID)
		return nil
	}))
	q := handlertest.Queue{Handler: h}
	q.Run(t, handlertest.Message{
		Body: `{"id": "e-1", "detail-type": "Order Placed", "source": "shop", "detail": {"id": "o-1"}}`,
	})
	// Output: Order Placed e-1 has order o-1
}

func ExampleEventFrom() {
	_, ok := envelope.EventFrom(context.Background())
	fmt.Println(ok)
	// Output: false
}

func ExampleBase64() {
	t := new(testing.T) // in a test, the t of the test
	q := handlertest.Queue{Handler: envelope.Base64(handler.JSON(show))}
	q.Run(t, handlertest.Message{Body: "eyJpZCI6Im8tMSJ9"})
	// Output: order o-1
}

func ExampleEncoding() {
	t := new(testing.T) // in a test, the t of the test
	q := handlertest.Queue{Handler: envelope.Encoding(handler.JSON(show), nil)}
	q.Run(t,
		handlertest.Message{Body: `{"id": "o-1"}`},
		handlertest.Message{Body: "eyJpZCI6Im8tMiJ9", Attributes: map[string]any{"content-encoding": "base64"}},
	)
	// Output:
	// order o-1
	// order o-2
}

func ExampleClaimCheck() {
	t := new(testing.T) // in a test, the t of the test
	q := handlertest.Queue{Handler: envelope.ClaimCheck(handler.JSON(show))}
	report := q.Run(t, handlertest.Message{
		Body: `["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": "large", "s3Key": "o-1"}]`,
	})
	fmt.Println(report.Job("m1").Letter.Failure.Types)
	// Output: [*fault.DecodeError *envelope.PointerError]
}

func ExampleParsePointer() {
	p, ok := envelope.ParsePointer(
		`["software.amazon.payloadoffloading.PayloadS3Pointer", {"s3BucketName": "large", "s3Key": "o-1"}]`,
	)
	fmt.Println(p, ok)
	// Output: s3://large/o-1 true
}

func ExampleS3() {
	t := new(testing.T) // in a test, the one that it is given
	h := envelope.S3(handler.JSON(func(_ context.Context, e events.S3Event) error {
		for _, r := range e.Records {
			fmt.Println(r.EventName, r.S3.Bucket.Name, r.S3.Object.URLDecodedKey)
		}
		return nil
	}))
	q := handlertest.Queue{Handler: h}
	report := q.Run(t,
		handlertest.Message{Body: `{"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "photos"}`},
		handlertest.Message{Body: `{"Records": [{"eventSource": "aws:s3", "eventName": "ObjectCreated:Put",
			"s3": {"bucket": {"name": "photos"}, "object": {"key": "my+cat.png"}}}]}`},
	)
	fmt.Println(report.Job("m1").Outcomes(), report.Job("m2").Outcomes())
	// Output:
	// ObjectCreated:Put photos my cat.png
	// [dropped] [done]
}
