package sqsevent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

// lambdaRecord returns a message in the format in which Lambda sends it.
func lambdaRecord(i int, body string) string {
	text, _ := json.Marshal(body)
	return fmt.Sprintf(`{"messageId":"m-%d","receiptHandle":"r+/=","body":%s,"attributes":{`+
		`"ApproximateReceiveCount":"1","SentTimestamp":"1767225600000","SenderId":"AIDA",`+
		`"ApproximateFirstReceiveTimestamp":"1767225600001"},"messageAttributes":{"tenant":{`+
		`"stringValue":"t \u00e4 \"1\"","stringListValues":[],"binaryListValues":[],"dataType":"String"}},`+
		`"md5OfBody":"d41d","md5OfMessageAttributes":null,"eventSource":"aws:sqs",`+
		`"eventSourceARN":"arn:aws:sqs:eu-west-1:123456789012:jobs","awsRegion":"eu-west-1"}`, i, text)
}

func lambdaEvent(bodies ...string) string {
	records := make([]string, len(bodies))
	for i, body := range bodies {
		records[i] = lambdaRecord(i, body)
	}
	return `{"Records":[` + strings.Join(records, ",") + `]}`
}

// same compares Decode with encoding/json, and reports whether decodeFast
// succeeded.
func same(t *testing.T, data string) (fast bool) {
	t.Helper()
	var want events.SQSEvent
	wantErr := json.Unmarshal([]byte(data), &want)
	got, err := Decode([]byte(data))
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%.200q: error %v, want %v", data, err, wantErr)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%.200q (-want +got):\n%s", data, diff)
	}
	_, fast = decodeFast([]byte(data))
	return fast
}

func TestEventsOfLambdaAreDecodedInOnePass(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"no messages":   `{"Records":[]}`,
		"one":           lambdaEvent(`{"id":"o-1"}`),
		"several":       lambdaEvent("hello", `{"a":[1,2,{"b":"\"\\/"}]}`, "", "ü😀\n\t\r\b\f<&>"),
		"spaces":        `{ "Records" : [ { "messageId" : "m" , "attributes" : { } } ] } `,
		"no attributes": `{"Records":[{"messageId":"m","messageAttributes":{}}]}`,
		"escapes":       `{"Records":[{"body":"\u0041\/\b\f\n\r\t\u00e4\"\\"}]}`,
		"pairs":         `{"Records":[{"body":"\ud83d\ude00 \uD83D\uDE00\uffff"}]}`,
		"large first":   lambdaEvent(strings.Repeat("x", 5000), "", "a", "b", "c", "d"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !same(t, data) {
				t.Error("left to encoding/json")
			}
		})
	}
}

// others are valid and invalid events that Lambda does not send.
var others = []string{
	``, `null`, `[]`, `{}`, `{"Records":null}`, `{"Records":{}}`, `{"Records":[null]}`, `{"records":[]}`,
	`{"Records":[],"Records":[{"messageId":"m"}]}`, `{"Records":[{"messageId":"a","messageId":"b"}]}`,
	`{"Records":[{"MessageID":"a"}]}`, `{"Records":[{"messageId":1}]}`, `{"Records":[{"messageId":null}]}`,
	`{"Records":[{"new":"field"}]}`, "{\"Records\":[\n]}", "{\"Records\":[{\"body\":\"\x01\"}]}",
	"{\"Records\":[{\"body\":\"\xff\"}]}", `{"Records":[{"body":"\ud83d\ude00 \ud83d"}]}`, `{"Records":[{"body":"\x"}]}`,
	`{"Records":[{"body":"\u12"}]}`, `{"Records":[{"body":"`, `{"Records":[{"body":"\`, `{"Records":[{"body":"\u`,
	`{"Records":[]}x`, `{"Records":[],}`, `{"Records":[{"messageId":"m"},]}`, `{"Records":[{"attributes":{"a":1}}]}`,
	`{"Records":[{"attributes":{"a":"1","a":"2"}}]}`, `{"Records":[{"attributes":null}]}`, `{"Records":[{"n`,
	`{"Records":[{"md5OfMessageAttributes":nullx}]}`, `{"Records":[{"md5OfMessageAttributes":`,
	`{"Records":[{"messageAttributes":{"a":{"binaryValue":"AQ==","dataType":"Binary"}}}]}`,
	`{"Records":[{"messageAttributes":{"a":{"stringValue":null}}}]}`,
	`{"Records":[{"messageAttributes":{"a":{"stringValue":"1"},"a":{"dataType":"String"}}}]}`,
	`{"Records":[{"messageAttributes":{"a":{"stringListValues":["x"]}}}]}`, `{"Records":[{"body":"\u+041"}]}`,
	`{"Records":[{"messageAttributes":{"a":{"dataType":"","dataType":"b"}}}]}`,
	`{"Records":[{"body":"\ud83dx"}]}`, `{"Records":[{"body":"\ude00\ud83d"}]}`, `{"Records":[{"body":"\ud83d\u0041"}]}`,
	`{"Records":[{"body":"\ud83d\u+e00"}]}`, `{"Records":[{"b\u006fdy":"x"}]}`, "{\"Records\":[{\"bod\x01y\":\"x\"}]}",
	"{\"Records\":[{\"body\":\"0123456789\x1f0123456789\"}]}", "{\"Records\":[{\"body\":\"0123456789\xc30123456789\"}]}",
	`{"Records":[{"attributes":{"ä":"1"}}]}`, "{\"Records\":[{\"body\":\"\x7f\xc3\xa4\"}]}", `{"Records":[{"body":"\u00`,
}

func TestOtherEventsAreDecodedByEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, data := range others {
		same(t, data)
	}
}

func TestEventDoesNotReferToTheInput(t *testing.T) {
	t.Parallel()
	data := []byte(lambdaEvent("first", `{"id":"o-1"}`))
	event, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if event.Records[0].Body != "first" || event.Records[1].Body != `{"id":"o-1"}` {
		t.Errorf("the bodies are now %q and %q", event.Records[0].Body, event.Records[1].Body)
	}
}

// A special byte is found wherever it is in a word, with any neighbours.
func TestSpecialBytesAreFoundAtEachPlace(t *testing.T) {
	t.Parallel()
	for _, filling := range []string{"a", "\u00e4", "!", "#", "[", "]", "\x7f", " "} {
		for place := range 20 {
			for _, c := range []string{`\"`, `\\`, `\n`, `\u00e9`, `\ud83d\ude00`, `"`, "\x00", "\x1f", "\xff", "\u2028"} {
				before, after := strings.Repeat(filling, place), strings.Repeat(filling, 19-place)
				same(t, `{"Records":[{"body":"`+before+c+after+`","messageId":"m"}]}`)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, data := range others {
		f.Add(data)
	}
	f.Add(lambdaEvent("a", `{"b":"\""}`))
	f.Fuzz(func(t *testing.T, data string) { same(t, data) })
}

func BenchmarkDecode(b *testing.B) {
	bodies := make([]string, 1000)
	for i := range bodies {
		bodies[i] = `{"id":"o-1","amount":100,"lines":[` + strings.Repeat(`{"sku":"a","n":1},`, 20) + `{}]}`
	}
	data := []byte(lambdaEvent(bodies...))
	b.Run("fast", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var event events.SQSEvent
			if err := json.Unmarshal(data, &event); err != nil {
				b.Fatal(err)
			}
		}
	})
}
