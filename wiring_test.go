package sqsafe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// other returns a value of the type that is not its zero value.
func other(t reflect.Type) reflect.Value {
	switch v := reflect.New(t).Elem(); t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
		return v
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
		return v
	case reflect.String:
		v.SetString("other")
		return v
	default:
		return v
	}
}

// Each option of the ledger that the front door has is passed on, whatever is added.
func TestEveryLedgerOptionIsPassedOn(t *testing.T) {
	t.Parallel()
	front, ledger := reflect.TypeFor[Options](), reflect.TypeFor[idem.Options]()
	for f := range ledger.Fields() {
		if !f.IsExported() {
			continue
		}
		o := Options{}
		at := reflect.ValueOf(&o).Elem().FieldByName(f.Name)
		if !at.IsValid() || at.Type() != f.Type {
			t.Errorf("%v has no field %s %v as %v does", front, f.Name, f.Type, ledger)
			continue
		}
		switch f.Name {
		case "Key":
			o.Key = idem.MessageID()
		case "Hash":
			o.Hash = idem.HashNothing()
		case "Logger":
			o.Logger = slog.New(slog.DiscardHandler)
		default:
			at.Set(other(f.Type))
		}
		if got := reflect.ValueOf(o.ledgerOptions()).Elem().FieldByName(f.Name); got.IsZero() {
			t.Errorf("Options.%s is not passed on", f.Name)
		}
	}
}

// Each variable that Start documents changes what the options are.
func TestEveryVariableHasAnEffect(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		tableVariable: "x", deadLetterVariable: "http://localhost/1/x", maxReceivesVariable: "7",
		unclassifiedVariable: "7", concurrencyVariable: "7", backoffVariable: "stepped", jitterVariable: "0.7",
		attemptsVariable: "7", strictVariable: "true", hashVariable: "id", keepVariable: "7", leaseVariable: "7",
		excerptVariable: "7",
	}
	plain := fmt.Sprintf("%+v", read(t, complete()))
	for name, value := range values {
		env := complete()
		env[name] = value
		if got := fmt.Sprintf("%+v", read(t, env)); got == plain {
			t.Errorf("%s=%s has no effect", name, value)
		}
	}
}

// An option takes the place of the variable that says the same.
func TestOptionsOutweighTheEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		tableVariable: "env", deadLetterVariable: "http://localhost/1/env", maxReceivesVariable: "9",
		unclassifiedVariable: "9", concurrencyVariable: "9", backoffVariable: "stepped", keepVariable: "9",
		leaseVariable: "9", excerptVariable: "9", hashVariable: "id",
	}
	o := Options{
		Table: "own", DeadLetterURL: "http://localhost/1/own", Keep: time.Hour, Lease: time.Minute, Hash: idem.HashNothing(),
		Options: handler.Options{
			MaxReceives: 5, UnclassifiedAttempts: 5, Concurrency: 5, ExcerptBytes: 5, Backoff: backoff.Exponential{},
		},
	}
	want := fmt.Sprintf("%+v", o)
	if err := readEnvironment(lookupIn(env), &o); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", o); got != want {
		t.Errorf("options are\n%s\nwant\n%s", got, want)
	}
}

// In code everything can be said, without any variable.
func TestNoVariableIsNeededBesideOptions(t *testing.T) {
	t.Parallel()
	said := func(o *Options) {
		o.Table, o.DeadLetterURL, o.MaxReceives = "ledger", "http://localhost/1/dead", 30
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := newHost(lookupIn(map[string]string{}), aws.Config{})
	if _, err := NewProcessorOn(h, nothing, said); err != nil {
		t.Error(err)
	}
}

type checked struct {
	ID string `json:"id"`
}

func (c *checked) Validate() error { return nil }

// Start warns once of what is allowed and seldom meant.
func TestStartWarnsOfWhatIsSeldomMeant(t *testing.T) {
	t.Parallel()
	const key, payload, attempts = "no idempotency key", "payloads are not validated", "no more often than it may be tried"
	const seldom = "hands a job out too seldom"
	once := func(o *Options) { o.Backoff = backoff.Exponential{MaxAttempts: 1} }
	tests := []struct {
		name    string
		make    func(env map[string]string, options ...Option) error
		env     map[string]string
		options []Option
		want    []string
	}{
		{"a plain struct without a key", forType[job], nil, nil, []string{key, payload}},
		{"a key and a validated type", forType[checked], nil, []Option{KeyField("id")}, nil},
		{"an option that is nil", forType[checked], nil, []Option{nil, KeyField("id")}, nil},
		{"a validated type by pointer", forType[*checked], nil, []Option{KeyField("id")}, nil},
		{"a map", forType[map[string]any], nil, []Option{KeyField("id")}, nil},
		{"as many attempts as receives", forType[checked], map[string]string{maxReceivesVariable: "8"},
			[]Option{KeyField("id")}, []string{attempts}},
		{"four receives", forType[checked], map[string]string{maxReceivesVariable: "4"},
			[]Option{KeyField("id"), once}, []string{seldom}},
		{"five receives", forType[checked], map[string]string{maxReceivesVariable: "5"},
			[]Option{KeyField("id"), once}, nil},
		{"ten receives of a FIFO queue", forType[checked], map[string]string{
			maxReceivesVariable: "10", deadLetterVariable: "https://sqs.eu-west-1.amazonaws.com/1/dead.fifo",
		}, []Option{KeyField("id")}, []string{seldom}},
		{"as many attempts for a reason", forType[checked], nil, []Option{KeyField("id"), func(o *Options) {
			o.BackoffByReason = map[string]handler.Backoff{"declined": backoff.Stepped{MaxAttempts: 30}}
		}}, []string{attempts}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			env := complete()
			maps.Copy(env, tt.env)
			err := tt.make(env, append(tt.options, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })...)
			if err != nil {
				t.Fatal(err)
			}
			for _, warning := range []string{key, payload, attempts, seldom} {
				want := 0
				if strings.Contains(strings.Join(tt.want, "|"), warning) {
					want = 1
				}
				if got := strings.Count(log.String(), warning); got != want {
					t.Errorf("%q is logged %d times, want %d:\n%s", warning, got, want, &log)
				}
			}
		})
	}
}

func forType[T any](env map[string]string, options ...Option) error {
	_, _, err := newLambdaProcessor(lookupIn(env), func(context.Context, T) error { return nil }, options)
	return err
}

// handle sends bodies to the queue and hands them to a processor.
func (w *world) handle(t *testing.T, p *handler.Processor, bodies ...string) events.SQSEventResponse {
	t.Helper()
	for _, body := range bodies {
		_, err := w.queues.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(w.url + "jobs"), MessageBody: &body,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	response, err := p.Handle(t.Context(), w.receive(t, "jobs"))
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func (w *world) processor(t *testing.T, fn func(context.Context, job) error, options ...Option) *handler.Processor {
	t.Helper()
	p, _, err := newLambdaProcessor(lookupIn(w.env), fn, append([]Option{func(o *Options) {
		o.Logger = slog.New(slog.DiscardHandler)
	}}, options...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A letter with ten attributes that is sent back is the job that it was: under its own
// id, with all its attributes, and without the record.
func TestAReplayIsTheSameJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ten := map[string]types.MessageAttributeValue{}
	for i := range 10 {
		ten[fmt.Sprintf("a%d", i)] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("v")}
	}
	sent, err := w.queues.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(w.url + "jobs"), MessageBody: aws.String(`{"id":"1"}`), MessageAttributes: ten,
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	var attributes []int
	fail := true
	p := w.processor(t, func(ctx context.Context, _ job) error {
		m := handler.FromContext(ctx)
		keys, attributes = append(keys, idem.Key(ctx)), append(attributes, len(m.MessageAttributes))
		if _, carries := m.MessageAttributes["sqsafe"]; carries {
			t.Error("the record reached the function")
		}
		if fail {
			return fault.Permanent(errors.New("no"))
		}
		return nil
	})
	w.handle(t, p)
	fail = false
	letters, err := w.queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(w.url + "dead"), MessageAttributeNames: []string{"All"},
	})
	if err != nil || len(letters.Messages) != 1 {
		t.Fatalf("%d letters, %v; want one", len(letters.Messages), err)
	}
	_, err = w.queues.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(w.url + "jobs"), MessageBody: letters.Messages[0].Body,
		MessageAttributes: letters.Messages[0].MessageAttributes,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.handle(t, p)
	if fmt.Sprint(keys) != fmt.Sprint([]string{*sent.MessageId, *sent.MessageId}) {
		t.Errorf("keys %v, want the id of the first message twice", keys)
	}
	if fmt.Sprint(attributes) != "[10 10]" {
		t.Errorf("attributes %v, want all ten each time", attributes)
	}
}

// Middleware wraps the run of a job: a duplicate does not reach it.
func TestMiddlewareSeesAJobOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	saw := 0
	p := w.processor(t, nothing, KeyField("id"), func(o *Options) {
		o.Middleware = []handler.Middleware{func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error {
				saw++
				if idem.Key(ctx) != "1" {
					t.Errorf("key %q in middleware, want that of the job", idem.Key(ctx))
				}
				return next(ctx, m)
			}
		}}
	})
	w.handle(t, p, `{"id":"1"}`)
	w.handle(t, p, `{"id":"1"}`)
	if saw != 1 {
		t.Errorf("middleware ran %d times for one job, want once", saw)
	}
}

// What options promise holds through the front door.
func TestOptionsThroughTheFrontDoor(t *testing.T) {
	t.Parallel()
	declined := fault.Permanent(errors.New("no"), fault.WithReason("declined"))
	tests := []struct {
		name   string
		fn     func(context.Context, job) error
		option Option
		body   string
		check  func(t *testing.T, log string, letters int)
	}{
		{"a dropped reason leaves no letter", func(context.Context, job) error { return declined },
			func(o *Options) { o.Drop = []string{"declined"} }, `{"id":"1"}`,
			func(t *testing.T, log string, letters int) {
				if letters != 0 || !strings.Contains(log, `"outcome":"dropped"`) {
					t.Errorf("%d letters, log:\n%s", letters, log)
				}
			}},
		{"redacted payloads stay out of the log", func(context.Context, job) error { return declined },
			func(o *Options) { o.Redact = func(*handler.Message) string { return "hidden" } }, `{"id":"secret"}`,
			func(t *testing.T, log string, _ int) {
				if strings.Contains(log, `\"secret\"`) || !strings.Contains(log, `"excerpt":"hidden"`) {
					t.Errorf("log:\n%s", log)
				}
			}},
		{"a classifier of one's own", func(context.Context, job) error { return errors.New("odd") },
			func(o *Options) { o.Classifier = permanent{} }, `{"id":"1"}`,
			func(t *testing.T, log string, letters int) {
				if letters != 1 {
					t.Errorf("%d letters, want one; log:\n%s", letters, log)
				}
			}},
		{"strict payloads", nothing, func(o *Options) { o.Strict = true }, `{"id":"1","more":2}`,
			func(t *testing.T, log string, letters int) {
				if letters != 1 || !strings.Contains(log, `"reason":"decode"`) {
					t.Errorf("%d letters, log:\n%s", letters, log)
				}
			}},
		{"a panic as a permanent failure", func(context.Context, job) error { panic("boom") },
			func(o *Options) { o.PanicAsPermanent = true }, `{"id":"1"}`,
			func(t *testing.T, log string, letters int) {
				if letters != 1 {
					t.Errorf("%d letters, want one; log:\n%s", letters, log)
				}
			}},
		{"no excerpt of a payload", func(context.Context, job) error { return declined },
			func(o *Options) { o.ExcerptBytes = -1 }, `{"id":"secret"}`,
			func(t *testing.T, log string, _ int) {
				if strings.Contains(log, `\"secret\"`) {
					t.Errorf("log:\n%s", log)
				}
			}},
		{"a profile for a reason", func(context.Context, job) error {
			return fault.Retryable(errors.New("later"), fault.WithReason("limit"))
		}, func(o *Options) {
			o.BackoffByReason = map[string]handler.Backoff{"limit": backoff.Stepped{MaxAttempts: 1}}
		},
			`{"id":"1"}`, func(t *testing.T, log string, letters int) {
				if letters != 1 {
					t.Errorf("%d letters after the only attempt, want one; log:\n%s", letters, log)
				}
			}},
		{"an envelope", nothing, func(o *Options) { o.Envelope = envelope.EventBridge }, `{"id":"1"}`,
			func(t *testing.T, log string, letters int) {
				if letters != 1 {
					t.Errorf("a body without its envelope leaves %d letters, want one; log:\n%s", letters, log)
				}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var log bytes.Buffer
			logged := func(o *Options) { o.Logger = slog.New(slog.NewJSONHandler(&log, nil)) }
			w.handle(t, w.processor(t, tt.fn, KeyField("id"), logged, tt.option), tt.body)
			tt.check(t, log.String(), len(w.receive(t, "dead").Records))
		})
	}
}

type permanent struct{}

func (permanent) Classify(context.Context, error) fault.Decision {
	return fault.Decision{Class: fault.ClassPermanent, Reason: "mine"}
}

// A payload that changes with each sending is one job where its changing part is not
// in the hash.
func TestHashFieldsLetAPayloadChange(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"": 1, "id": 0, hashNothing: 0} {
		w := newWorld(t)
		w.env[hashVariable] = value
		p := w.processor(t, func(context.Context, job) error { return nil }, KeyField("id"))
		w.handle(t, p, `{"id":"1","sentAt":1}`)
		w.handle(t, p, `{"id":"1","sentAt":2}`)
		letters := w.receive(t, "dead").Records
		if len(letters) != want {
			t.Errorf("with %s=%q there are %d letters, want %d", hashVariable, value, len(letters), want)
		}
		for _, letter := range letters {
			var record struct{ Reason string }
			err := json.Unmarshal([]byte(*letter.MessageAttributes["sqsafe"].StringValue), &record)
			if err != nil || record.Reason != idem.ReasonConflict {
				t.Errorf("reason %q, %v; want a key conflict", record.Reason, err)
			}
		}
	}
}
