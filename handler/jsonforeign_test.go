package handler_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// What AWS puts around payloads, or in their place.
const (
	snsBody = `{"Type":"Notification","MessageId":"n-1","TopicArn":"arn:aws:sns:eu-west-1:123456789012:orders",` +
		`"Subject":"s","Message":"{\"id\":\"o-1\"}","Timestamp":"2026-01-02T03:04:05.678Z","SignatureVersion":"1",` +
		`"Signature":"AA==","SigningCertURL":"https://x","UnsubscribeURL":"https://x"}`
	confirmBody = `{"Type":"SubscriptionConfirmation","MessageId":"n-1","Token":"t-1","TopicArn":"arn",` +
		`"Message":"You have chosen to subscribe","SubscribeURL":"https://secret","Timestamp":"2026-01-02T03:04:05.678Z"}`
	eventBody = `{"version":"0","id":"e-1","detail-type":"Order Placed","source":"shop","account":"123456789012",` +
		`"time":"2026-01-02T03:04:05Z","region":"eu-west-1","resources":[],"detail":{"id":"o-1","amount":2}}`
	s3Body = `{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"eu-west-1",` +
		`"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"photos"},"object":{"key":"cat.png"}}}]}`
	s3TestBody = `{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-01-02T03:04:05.678Z","Bucket":"photos",` +
		`"RequestId":"r-1","HostId":"h-1"}`
	sqsBody         = `{"Records":[{"messageId":"m-1","body":"{\"id\":\"o-1\"}","eventSource":"aws:sqs"}]}`
	snsEventBody    = `{"Records":[{"EventSource":"aws:sns","EventVersion":"1.0","Sns":{"Message":"x"}}]}`
	destinationBody = `{"version":"1.0","timestamp":"2026-01-02T03:04:05.678Z","requestContext":{"condition":"Success"},` +
		`"requestPayload":{"id":"o-1"},"responseContext":{"statusCode":200},"responsePayload":null}`
	cloudEventBody = `{"specversion":"1.0","id":"c-1","source":"/shop","type":"order.placed","data":{"id":"o-1"}}`
)

// bodies are all of them by the words with which an error names them.
var bodies = map[string]string{
	"an SNS notification":                            snsBody,
	"an SNS confirmation of a subscription":          confirmBody,
	"an EventBridge event":                           eventBody,
	"a notification of S3":                           s3Body,
	"the test event of S3":                           s3TestBody,
	"a whole SQS event":                              sqsBody,
	"the event that SNS sends to a Lambda function":  snsEventBody,
	"a record of a Lambda destination":               destinationBody,
	"a CloudEvent":                                   cloudEventBody,
	"an event of a DynamoDB stream":                  `{"Records":[{"eventSource":"aws:dynamodb"}]}`,
	"an event of a Kinesis stream":                   `{"Records":[{"eventSource":"aws:kinesis"}]}`,
	"a JSON object without any member of":            `{"Records":[{"eventSource":"own"}]}`,
	"a JSON object without any member of handler_te": `{"identifier":"x"}`,
}

// decodes is what JSON says to a body with a function of T.
func decodes[T any](t *testing.T, body string, options ...handler.DecodeOption) error {
	t.Helper()
	ran := false
	h := handler.JSON(func(context.Context, T) error { ran = true; return nil }, options...)
	err := call(t.Context(), h, &handler.Message{SQSMessage: record("m1", body)})
	if ran != (err == nil) {
		t.Errorf("%s: error %v, ran %v", body, err, ran)
	}
	return err
}

type payment struct {
	ID     string `json:"id"`
	Amount int    `json:"amount"`
	Note   string `json:"note"`
}

func TestAnotherThingThanThePayloadIsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	type photo struct{ Bucket, Key, Timestamp string }
	type job struct {
		ID string `json:"id"`
	}
	for name, body := range bodies {
		for kind, err := range map[string]error{
			"no member in common":        decodes[struct{ Amount int }](t, body),
			"the id in common":           decodes[payment](t, body),
			"nothing but an id":          decodes[job](t, body),
			"a pointer":                  decodes[**payment](t, body),
			"bucket, time in common":     decodes[photo](t, body),
			"strict, the id in common":   decodes[payment](t, body, handler.Strict()),
			"another type of the member": decodes[struct{ ID, Bucket, Timestamp, Amount int }](t, body),
		} {
			if _, ok := err.(*fault.DecodeError); !ok {
				t.Errorf("%s, %s: error %v, want a *fault.DecodeError", name, kind, err)
				continue
			}
			words, _, special := strings.Cut(name, "a JSON object without any member of")
			if !special && !strings.Contains(err.Error(), "body is "+words) {
				t.Errorf("%s, %s: the error is %q", name, kind, err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s, %s: the error shows what the body holds: %q", name, kind, err)
			}
		}
	}
}

func TestWhatIsWrongAndWhatToDoIsSaid(t *testing.T) {
	t.Parallel()
	type many struct{ A, B, C, D, E, F int }
	for body, want := range map[string]string{
		`{"identifier":"x"}`: "decode: body is a JSON object without any member of handler_test.payment " +
			"(id, amount, note): if the payload is inside of it, let Options.Envelope take it out",
		snsBody: "decode: body is an SNS notification, want handler_test.payment: " +
			"let Options.Envelope take the message out by envelope.SNS, or turn on raw message delivery",
		eventBody: "decode: body is an EventBridge event, want handler_test.payment: " +
			"let Options.Envelope take the detail out by envelope.EventBridge",
		s3TestBody: "decode: body is the test event of S3, want handler_test.payment: S3 sends one when notifications " +
			"are set up; with envelope.S3 as Options.Envelope it is acknowledged",
	} {
		if err := decodes[payment](t, body); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", body, err, want)
		}
	}
	if err := decodes[many](t, `{"x":1}`); err == nil || !strings.Contains(err.Error(), "(A, B, C, D, E, ...)") {
		t.Errorf("error %v, want five of six members", err)
	}
	if err := decodes[struct{ A int }](t, `{"x":1}`); err == nil || strings.Contains(err.Error(), "struct {") {
		t.Errorf("error %v, want it without the fields of a type that has no name", err)
	}
	err := decodes[payment](t, eventBody, handler.Strict())
	want := `decode: json: unknown field "version"; body is an EventBridge event: ` +
		"let Options.Envelope take the detail out by envelope.EventBridge"
	if err == nil || err.Error() != want {
		t.Errorf("strict:\n got %v\nwant %s", err, want)
	}
}

type (
	base    struct{ ID string }
	private struct {
		Secret string `json:"secret"`
		hidden string
	}
	// Extra has to be exported, or else encoding/json cannot make one.
	Extra struct {
		Amount int
		Note   string `json:"note"`
	}
	named struct {
		base
		*Extra

		private  `json:"inner"`
		Renamed  string `json:"other_name,omitempty"`
		Odd      string `json:"o\\dd"` //nolint:staticcheck // encoding/json has to be asked about a wrong name
		Currency string `json:"€"`
		Skipped  string `json:"-"`
		Dash     string `json:"-,"` //nolint:staticcheck // the member is "-"
		error
		Next *named
	}
)

func TestMembersAreMatchedAsEncodingJSONDoes(t *testing.T) {
	t.Parallel()
	_ = private{hidden: ""}
	// What encoding/json knows is what it does not refuse as unknown.
	oracle := func(body string) bool {
		decoder := json.NewDecoder(strings.NewReader(body))
		decoder.DisallowUnknownFields()
		return decoder.Decode(new(named)) == nil
	}
	for member, known := range map[string]bool{
		"ID": true, "id": true, "iD": true, "Amount": true, "NOTE": true, "inner": true, "other_name": true,
		"OTHER_NAME": true, "Odd": true, "Currency": true, "-": true, "next": true, `\u0069d`: true, "aſ": false,
		"Renamed": false, "Skipped": false, "Dash": false, "hidden": false, "secret": false, "Extra": false, "base": false,
		"": false, "other": false,
	} {
		if got := oracle(`{"` + member + `":null}`); got != known {
			t.Errorf("%s: encoding/json knows it: %v, want %v", member, got, known)
		}
		for _, body := range []string{
			`{"` + member + `":null}`,
			` {"x" : {"id":[1,"}"]}, "` + member + "\" :\n null, \"y\":1}",
		} {
			if err := decodes[named](t, body); (err == nil) != known {
				t.Errorf("%s: %v; want it to be known: %v", body, err, known)
			}
		}
	}
	if err := decodes[struct{ Ask string }](t, `{"a\u017fk":"x"}`); err != nil { // folds to an s
		t.Error(err)
	}
}

// textual decodes itself, as do types that embed it.
type textual struct{ ID string }

func (*textual) UnmarshalText([]byte) error { return nil }

type itself struct{ ID string }

func (*itself) UnmarshalJSON([]byte) error { return nil }

func TestTypesOfWhichNamesSayNothingGetEverything(t *testing.T) {
	t.Parallel()
	type outer struct {
		itself
		Amount int
	}
	for name, err := range map[string]error{
		"a map":           decodes[map[string]any](t, snsBody),
		"any":             decodes[any](t, snsBody),
		"raw":             decodes[json.RawMessage](t, snsBody),
		"a slice":         decodes[[]int](t, `[1]`),
		"a string":        decodes[string](t, `"x"`),
		"UnmarshalJSON":   decodes[itself](t, snsBody),
		"a pointer to it": decodes[*itself](t, snsBody),
		"embedded":        decodes[outer](t, snsBody),
		"no fields":       decodes[struct{}](t, snsBody),
		"none exported":   decodes[struct{ id string }](t, snsBody),
		"all left out": decodes[struct {
			ID string `json:"-"`
		}](t, snsBody),
		"an empty object": decodes[payment](t, ` { } `),
		"a null member":   decodes[payment](t, `{"id":null}`),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := decodes[textual](t, `{"x":1}`); err == nil || strings.Contains(err.Error(), "member") {
		t.Errorf("error %v, want that of encoding/json", err)
	}
}

func TestTypesThatAreMeantForAnEnvelopeGetIt(t *testing.T) {
	t.Parallel()
	type fact struct {
		Source string          `json:"source"`
		Detail json.RawMessage `json:"detail"`
		Extra  string          `json:"extra"`
	}
	type tick struct {
		ID   string `json:"id"`
		Time string `json:"time"`
	}
	type call struct {
		RequestPayload payment `json:"requestPayload"`
	}
	type cloud struct {
		Type string  `json:"type"`
		Data payment `json:"data"`
	}
	for name, err := range map[string]error{
		"SNS":                   decodes[events.SNSEntity](t, snsBody),
		"EventBridge":           decodes[events.EventBridgeEvent](t, eventBody),
		"parts of EventBridge":  decodes[fact](t, eventBody),
		"its time":              decodes[tick](t, eventBody),
		"S3":                    decodes[events.S3Event](t, s3Body),
		"SQS":                   decodes[events.SQSEvent](t, sqsBody),
		"SNS to Lambda":         decodes[events.SNSEvent](t, snsEventBody),
		"a Lambda destination":  decodes[call](t, destinationBody),
		"a CloudEvent":          decodes[cloud](t, cloudEventBody),
		"a payload like SNS's":  decodes[payment](t, `{"id":"o-1","Type":"Notification","TopicArn":"a"}`),
		"a payload like events": decodes[payment](t, `{"id":"o-1","source":"shop","detail":{}}`),
		"a word in the text":    decodes[payment](t, `{"id":"o-1","x":"\"detail-type\"","source":"","detail":1}`),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAWSEventHasRecords(t *testing.T) {
	t.Parallel()
	type own struct {
		Records []struct {
			S3 struct{ Object struct{ Key string } }
		}
	}
	type rows struct{ Records []payment }
	type wrapped struct{ *events.S3Event }
	for _, body := range []string{`{}`, `{"Records":[]}`, `{"Records":null}`, `{"records":[]}`, s3TestBody, eventBody} {
		for name, err := range map[string]error{
			"S3": decodes[events.S3Event](t, body), "a pointer": decodes[*events.S3Event](t, body),
			"SNS": decodes[events.SNSEvent](t, body), "own": decodes[own](t, body), "embedded": decodes[wrapped](t, body),
		} {
			if _, ok := err.(*fault.DecodeError); !ok {
				t.Errorf("%s into %s: error %v, want a *fault.DecodeError", body, name, err)
			}
		}
	}
	want := "decode: body has no Records, want events.S3Event with at least one"
	if err := decodes[events.S3Event](t, `{"Records":[]}`); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := decodes[rows](t, `{"Records":[]}`); err != nil {
		t.Errorf("no rows of one's own: %v", err)
	}
}

func TestAForeignObjectIsDeadLetteredAlone(t *testing.T) {
	t.Parallel()
	q := newQueues()
	var ran []string
	p := newProcessor(handler.JSON(func(_ context.Context, p payment) error {
		ran = append(ran, p.ID)
		return nil
	}), q.options())
	handle(t, p, record("m1", `{"id":"o-1"}`), record("m2", eventBody), record("m3", `{"identifier":"x"}`))
	if diff := cmp.Diff([]string{"m2", "m3"}, q.dead()); diff != "" || !cmp.Equal(ran, []string{"o-1"}) {
		t.Fatalf("ran %v, dead (-want +got):\n%s", ran, diff)
	}
	for _, l := range q.letters {
		if l.Failure.Reason != fault.ReasonDecode || l.Failure.Class != "permanent" {
			t.Errorf("%s: %s %s", l.Message.MessageId, l.Failure.Class, l.Failure.Reason)
		}
	}
}
