package sqsafetest_test

// What docs/recipes.md shows. A test below compares the page with this file.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/sqsafetest"
)

// thumbnails makes a small picture of each photo that is written to a bucket.
type thumbnails struct {
	shrink func(ctx context.Context, bucket, key string) error
}

func (t thumbnails) run(ctx context.Context, e events.S3Event) error {
	return idem.Each(ctx, e.Records, writeOf, func(ctx context.Context, r events.S3EventRecord) error {
		return t.shrink(ctx, r.S3.Bucket.Name, r.S3.Object.URLDecodedKey)
	})
}

// writeOf identifies a write of an object. It is the same in each notification of the write.
func writeOf(r events.S3EventRecord) string {
	return r.S3.Bucket.Name + "/" + r.S3.Object.Key + "@" + r.S3.Object.Sequencer
}

// writesOf is the key of a job: all writes of its notification, in any order.
func writesOf(_ context.Context, m *handler.Message) (string, error) {
	var e events.S3Event
	if err := json.Unmarshal([]byte(m.Content()), &e); err != nil {
		return "", err
	}
	var writes []string
	for _, r := range e.Records {
		writes = append(writes, writeOf(r))
	}
	slices.Sort(writes)
	return strings.Join(writes, " "), nil
}

// thumbnailOptions are for sqsafe.Start(t.run, thumbnailOptions...).
var thumbnailOptions = []sqsafe.Option{func(o *sqsafe.Options) {
	o.Envelope = envelope.S3
	o.Key, o.Hash = writesOf, idem.HashNothing() // the key says what has to be equal
}}

// photos is a notification of S3 for photos that were written.
func photos(keys ...string) handlertest.Message {
	var e events.S3Event
	for _, key := range keys {
		e.Records = append(e.Records, events.S3EventRecord{EventName: "ObjectCreated:Put", S3: events.S3Entity{
			Bucket: events.S3Bucket{Name: "photos"}, Object: events.S3Object{Key: key, Sequencer: "0A"},
		}})
	}
	return sqsafetest.JSON(e)
}

func TestEachPhotoIsShrunkOnce(t *testing.T) {
	t.Parallel()
	var shrunk []string
	busy := true
	shrink := func(_ context.Context, _, key string) error {
		if key == "a dog.png" && busy {
			busy = false
			return fault.Retryable(errors.New("out of memory"))
		}
		shrunk = append(shrunk, key)
		return nil
	}
	q := sqsafetest.NewQueue(t, env, thumbnails{shrink}.run, thumbnailOptions...)
	again := photos("a+dog.png", "cat.png")
	again.After = time.Minute // S3 sends a second notification of the same writes
	report := q.Run(t, photos("cat.png", "a+dog.png"), again)
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone)
	report.RequireOutcomes(t, "m2", handler.OutcomeDuplicate)
	if !slices.Equal(shrunk, []string{"cat.png", "a dog.png"}) {
		t.Errorf("shrunk %q, want each photo once", shrunk)
	}
}

func TestABrokenPhotoKeepsNoOtherFromBeingShrunk(t *testing.T) {
	t.Parallel()
	var shrunk []string
	shrink := func(_ context.Context, _, key string) error {
		if key == "broken.png" {
			return fault.Permanent(errors.New("no picture"), fault.WithReason("no_picture"))
		}
		shrunk = append(shrunk, key)
		return nil
	}
	q := sqsafetest.NewQueue(t, env, thumbnails{shrink}.run, thumbnailOptions...)
	setUp := handlertest.Message{Body: `{"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "photos"}`}
	report := q.Run(t, setUp, photos("broken.png", "cat.png"))
	report.RequireOutcomes(t, "m1", handler.OutcomeDropped) // it has no photo
	letter := report.RequireDeadLetter(t, "m2", "no_picture")
	if text := letter.Failure.Message; !strings.Contains(text, "1 of 2 items failed") || len(shrunk) != 1 {
		t.Errorf("shrunk %q, and the dead letter says %q", shrunk, text)
	}
}

// Order is the payload of the first queue.
type Order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Address  string `json:"address"`
}

// Shipment is the payload of the second queue. Its id is the key of its job.
type Shipment struct {
	ID      string `json:"id"`
	Order   string `json:"order"`
	Address string `json:"address"`
}

// sender is what the function uses of an *sqs.Client.
type sender interface {
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// packing packs an order, and then sends a job to the queue of shipments.
type packing struct {
	pack      func(ctx context.Context, o Order) error
	client    sender
	shipments string // the URL of the second queue
}

func (p packing) run(ctx context.Context, o Order) error {
	if err := idem.Step(ctx, "pack", func(ctx context.Context) error { return p.pack(ctx, o) }); err != nil {
		return err
	}
	return idem.Step(ctx, "ship", func(ctx context.Context) error {
		message, err := shipment(ctx, o)
		if err != nil {
			return err
		}
		message.QueueUrl = &p.shipments
		_, err = p.client.SendMessage(ctx, message)
		return err
	})
}

// shipment makes the message of a shipment. Its id is made of the job's key and the name of
// the step, so it is the same at every attempt.
func shipment(ctx context.Context, o Order) (*sqs.SendMessageInput, error) {
	body, err := json.Marshal(Shipment{ID: idem.DeduplicationID(ctx), Order: o.ID, Address: o.Address})
	return &sqs.SendMessageInput{MessageBody: aws.String(string(body))}, err
}

// fifoShipment is for a second queue that is FIFO.
func fifoShipment(ctx context.Context, o Order) (*sqs.SendMessageInput, error) {
	message, err := shipment(ctx, o)
	message.MessageGroupId = &o.Customer
	message.MessageDeduplicationId = aws.String(idem.DeduplicationID(ctx))
	return message, err
}

func pack(context.Context, Order) error { return nil }

func startPacking() {
	cfg, err := sqsafe.LambdaConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, "packing:", err)
		os.Exit(1)
	}
	p := packing{pack, sqs.NewFromConfig(cfg), os.Getenv("SHIPMENT_QUEUE_URL")}
	sqsafe.Start(p.run, sqsafe.KeyField("id"))
}

var _ = startPacking // it would take the test for a Lambda function

// outbox keeps what is sent. The answer to the first send is lost.
type outbox struct {
	sent []*sqs.SendMessageInput
}

func (b *outbox) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	b.sent = append(b.sent, in)
	if len(b.sent) == 1 {
		return nil, fault.Retryable(errors.New("connection reset"))
	}
	return &sqs.SendMessageOutput{}, nil
}

func TestAnOrderIsShippedOnce(t *testing.T) {
	t.Parallel()
	packed, shipped := 0, 0
	pack := func(context.Context, Order) error { packed++; return nil }
	ship := func(context.Context, Shipment) error { shipped++; return nil }
	out := &outbox{}
	orders := sqsafetest.NewQueue(t, env, packing{pack, out, "https://sqs.example/shipments"}.run, sqsafe.KeyField("id"))
	orders.Name = "orders"
	report := orders.Run(t, sqsafetest.JSON(Order{ID: "o-7", Address: "Main Street 1"}))
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone)

	shipments := sqsafetest.NewQueue(t, env, ship, sqsafe.KeyField("id"))
	report = shipments.Run(t, handlertest.Message{Body: *out.sent[0].MessageBody},
		handlertest.Message{Body: *out.sent[1].MessageBody})
	report.RequireOutcomes(t, "m1", handler.OutcomeDone)
	report.RequireOutcomes(t, "m2", handler.OutcomeDuplicate)
	if packed != 1 || shipped != 1 {
		t.Errorf("packed %d times, shipped %d times, want once each", packed, shipped)
	}
}

// A process that dies between the send and its record sends again, with the same ids.
func TestAShipmentHasOneIDAtEveryAttempt(t *testing.T) {
	t.Parallel()
	var ids, groups []string
	run := func(ctx context.Context, o Order) error {
		return idem.Step(ctx, "ship", func(ctx context.Context) error {
			message, err := fifoShipment(ctx, o)
			if err != nil {
				return err
			}
			var s Shipment
			if err := json.Unmarshal([]byte(*message.MessageBody), &s); err != nil {
				return err
			}
			ids = append(ids, s.ID, *message.MessageDeduplicationId)
			groups = append(groups, *message.MessageGroupId)
			if handler.FromContext(ctx).ReceiveCount() == 1 {
				handlertest.Kill(ctx)
			}
			return nil
		})
	}
	q := sqsafetest.NewQueue(t, env, run, sqsafe.KeyField("id"))
	q.Name = "orders"
	report := q.Run(t, sqsafetest.JSON(Order{ID: "o-7", Customer: "c-1"}))
	report.RequireOutcomes(t, "m1", handler.OutcomeNone, handler.OutcomeDone)
	if !slices.Equal(ids, slices.Repeat([]string{"orders#o-7#ship"}, 4)) || !slices.Equal(groups, []string{"c-1", "c-1"}) {
		t.Errorf("ids %q in the groups %q, want one id four times, in the customer's group", ids, groups)
	}
}

// Every block of Go of the page is a part of this file, so what readers copy compiles and passes.
func TestTheRecipesAreThoseThatRunHere(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("recipes_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	code := strings.NewReplacer("\tt.Parallel()\n", "", "func startPacking()", "func main()").Replace(string(source))
	shown := strings.Split(string(page), "```go\n")[1:]
	if len(shown) != 8 {
		t.Errorf("%d blocks of Go, want 8", len(shown))
	}
	for _, block := range shown {
		block, _, _ = strings.Cut(block, "```\n")
		if !strings.Contains(code, block) {
			t.Errorf("no code here is this block of the page:\n%s", block)
		}
	}
}
