package dlq_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
)

// sendOne sends a letter and gives what arrived.
func sendOne(t *testing.T, url string, o *dlq.Options, l handler.Letter) requestEntry {
	t.Helper()
	if o == nil {
		o = quiet
	}
	api := &fakeQueue{}
	if err := send(t.Context(), t, api, url, o, l)[0].Answer(); err != nil {
		t.Fatal(err)
	}
	return api.arrived[0]
}

// recordOf gives the record of what arrived; false if it has none.
func recordOf(t *testing.T, e requestEntry) (dlq.Record, bool) {
	t.Helper()
	a, ok := e.MessageAttributes[dlq.AttributeName]
	if !ok {
		return dlq.Record{}, false
	}
	r, err := dlq.Decode(*a.StringValue)
	if err != nil {
		t.Fatal(err)
	}
	return r, true
}

func TestBodyIsSentByteForByte(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"odd spacing":    "{ \"a\" :1 ,\r\n\t\"b\":  2 }",
		"duplicate keys": `{"a":1,"a":2}`,
		"escapes":        `{"a":"\u00e9\/"} <b>&amp;</b>`,
		"emoji":          "😀\u2028\u2029",
		"no JSON":        "plain",
		"exactly 1 MiB":  strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sendOne(t, standardURL, nil, letterOf(message("m", body, nil)))
			if sha256.Sum256([]byte(*got.MessageBody)) != sha256.Sum256([]byte(body)) {
				t.Errorf("the body changed")
			}
		})
	}
}

// An envelope takes off what the payload is wrapped in. The letter has it still, or
// a replay would fail in decoding.
func TestAnUnwrappedMessageIsSentWithItsEnvelope(t *testing.T) {
	t.Parallel()
	const content = `{"id":"ch-1"}`
	body := "{\n \"Type\":\"Notification\", \"Message\":\"{\\\"id\\\":\\\"ch-1\\\"}\" }"
	m := message("m", body, map[string]string{"tenant": "t1"})
	m.Unwrap(content, map[string]string{"trace": "t-1"})
	if m.Content() != content {
		t.Fatalf("content %q, want %q", m.Content(), content)
	}
	got := sendOne(t, standardURL, nil, letterOf(m))
	if *got.MessageBody != body {
		t.Errorf("body %q, want %q", *got.MessageBody, body)
	}
	back := restored(delivered(got, "replayed"))
	if back.Body != body {
		t.Errorf("a replay has the body %q, want %q", back.Body, body)
	}
	sameAttributes(t, back.MessageAttributes, m.MessageAttributes)
}

func TestOriginalAttributesStay(t *testing.T) {
	t.Parallel()
	m := message("m", "{}", map[string]string{"tenant": "t1"})
	m.MessageAttributes["count"] = events.SQSMessageAttribute{DataType: "Number.int", StringValue: aws.String("7")}
	m.MessageAttributes["png"] = events.SQSMessageAttribute{DataType: "Binary.png", BinaryValue: []byte{0, 255}}
	got := sendOne(t, standardURL, nil, letterOf(m)).MessageAttributes
	delete(got, dlq.AttributeName)
	want := map[string]types.MessageAttributeValue{
		"tenant": {DataType: aws.String("String"), StringValue: aws.String("t1")},
		"count":  {DataType: aws.String("Number.int"), StringValue: aws.String("7")},
		"png":    {DataType: aws.String("Binary.png"), BinaryValue: []byte{0, 255}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(types.MessageAttributeValue{})); diff != "" {
		t.Errorf("attributes differ (-want +got):\n%s", diff)
	}
	if len(m.MessageAttributes) != 3 {
		t.Errorf("the message itself was changed: %v", m.MessageAttributes)
	}
}

func TestRecordNamesTheInvocation(t *testing.T) {
	t.Parallel()
	m := message("m-1", "{}", nil)
	m.Attributes = map[string]string{
		"SentTimestamp": "1767323045006", "MessageGroupId": "g", "MessageDeduplicationId": "d", "SequenceNumber": "9",
	}
	api := &fakeQueue{}
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	o := &dlq.Options{Function: "charge", FunctionVersion: "7"}
	send(ctx, t, api, standardURL, o, letterOf(m))
	got, _ := recordOf(t, api.arrived[0])
	want := dlq.Record{
		Version: 1, Failure: letterOf(m).Failure, MessageID: "m-1", Source: chargeARN,
		Group: "g", DeduplicationID: "d", SequenceNumber: "9", Sent: handler.NewTimestamp(m.SentAt()),
		Function: "charge", FunctionVersion: "7", RequestID: "req-1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
}

func TestSystemAttributes(t *testing.T) {
	t.Parallel()
	const root = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	traced := func(header string) map[string]string { return map[string]string{"AWSTraceHeader": header} }
	tests := map[string]struct {
		url          string
		attributes   map[string]string
		group, trace string
	}{
		"none":             {url: standardURL},
		"fair queue":       {url: standardURL, attributes: map[string]string{"MessageGroupId": "t1"}, group: "t1"},
		"FIFO":             {url: fifoURL, attributes: map[string]string{"MessageGroupId": "g1"}, group: "g1"},
		"FIFO, no group":   {url: fifoURL, group: "m-1"},
		"trace":            {url: standardURL, attributes: traced(root), trace: root},
		"trace, lineage":   {url: standardURL, attributes: traced(root + ";Lineage=25:1a2b3c4d:0"), trace: root},
		"lineage in midst": {url: standardURL, attributes: traced("Root=1;Lineage=1:a:0;Self=2"), trace: "Root=1;Self=2"},
		"lineage alone":    {url: standardURL, attributes: traced("Lineage=25:1a2b3c4d:0")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := message("m-1", "{}", nil)
			m.Attributes = tt.attributes
			got := sendOne(t, tt.url, nil, letterOf(m))
			if aws.ToString(got.MessageGroupId) != tt.group {
				t.Errorf("group %q, want %q", aws.ToString(got.MessageGroupId), tt.group)
			}
			trace, present := got.MessageSystemAttributes["AWSTraceHeader"]
			if aws.ToString(trace.StringValue) != tt.trace || present != (tt.trace != "") {
				t.Errorf("trace header %q, want %q", aws.ToString(trace.StringValue), tt.trace)
			}
		})
	}
}

func TestDeduplicationID(t *testing.T) {
	t.Parallel()
	id := func(messageID string, f handler.Failure) string {
		m := message(messageID, "{}", nil)
		m.Replay = &handler.Replay{MessageID: "first"}
		return aws.ToString(sendOne(t, fifoURL, nil, handler.Letter{Message: m, Failure: f}).MessageDeduplicationId)
	}
	died := time.Date(2026, 3, 1, 8, 0, 0, 120_456_789, time.UTC)
	last := handler.NewTimestamp(died)
	verdict := handler.Failure{Key: "stock:1", Epoch: 2, Verdict: true, Last: last}
	base := id("m-1", verdict)
	if base == "" || strings.Contains(base, verdict.Key) {
		t.Fatalf("deduplication id %q, want a hash", base)
	}
	if got := id("m-2", verdict); got != base {
		t.Errorf("a copy with the same verdict has another id")
	}
	for name, f := range map[string]handler.Failure{
		"a later epoch":                    {Key: "stock:1", Epoch: 3, Verdict: true, Last: last},
		"another key":                      {Key: "stock:2", Epoch: 2, Verdict: true, Last: last},
		"a key that runs into the epoch":   {Key: "2:stock:1", Epoch: 2, Verdict: true, Last: last},
		"another death of the same epoch":  {Key: "stock:1", Epoch: 2, Verdict: true, Last: after(last, time.Millisecond)},
		"a verdict whose time is not told": {Key: "stock:1", Epoch: 2, Verdict: true},
	} {
		if got := id("m-1", f); got == base {
			t.Errorf("%s has the same id", name)
		}
	}
	// The time as the sender has it first, and as the ledger gives it back.
	for name, same := range map[string]handler.Timestamp{
		"not cut to milliseconds": {Time: died},
		"read back":               throughLedger(t, verdict).Last,
		"in another zone":         {Time: died.In(time.FixedZone("CET", 3600))},
	} {
		f := verdict
		f.Last = same
		if got := id("m-1", f); got != base {
			t.Errorf("a repeated send has another id: %s", name)
		}
	}
	other := message("m-1", "{}", nil)
	other.EventSourceARN = "arn:aws:sqs:eu-west-1:123456789012:refunds.fifo"
	sent := sendOne(t, fifoURL, nil, handler.Letter{Message: other, Failure: verdict})
	if got := aws.ToString(sent.MessageDeduplicationId); got == base {
		t.Errorf("the same key of another source has the same id: its letter would be lost")
	}
	long := id("m-1", handler.Failure{Key: strings.Repeat("k", 2048), Verdict: true})
	if len(long) > 128 {
		t.Errorf("a long key gives an id of %d characters", len(long))
	}
	for name, f := range map[string]handler.Failure{
		"no verdict":       {Key: "stock:1", Epoch: 2},
		"no key":           {},
		"verdict, no key?": {Verdict: true},
	} {
		if got := id("m-1", f); got != "m-1" {
			t.Errorf("%s: deduplication id %q, want the id of the delivered message", name, got)
		}
	}
}

func after(t handler.Timestamp, d time.Duration) handler.Timestamp {
	return handler.NewTimestamp(t.Add(d))
}

// throughLedger is the failure as a store gives it back.
func throughLedger(t *testing.T, f handler.Failure) handler.Failure {
	t.Helper()
	written, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back handler.Failure
	if err := json.Unmarshal(written, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestTheWarningNamesTheMessageAndNotItsPayload(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := &dlq.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	body := "secret" + strings.Repeat("x", 1<<20-6)
	got := sendOne(t, standardURL, o, letterOf(message("m-1", body, nil)))
	if _, ok := recordOf(t, got); ok {
		t.Fatal("a body of 1 MiB went with a record")
	}
	if !strings.Contains(log.String(), "messageId=m-1") || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("log does not warn of the message: %s", log.String())
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("log carries the payload")
	}
}
