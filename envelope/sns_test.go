package envelope_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

const topic = "arn:aws:sns:eu-west-1:123456789012:charges"

func notification(message string) string {
	return fmt.Sprintf(`{"Type":"Notification","MessageId":"n-1","TopicArn":%q,"Message":%q,`+
		`"MessageAttributes":{"tenant":{"Type":"String","Value":"t-1"},"count":{"Type":"Number","Value":"2"},`+
		`"list":{"Type":"String.Array","Value":"[1]"},"photo":{"Type":"Binary","Value":"AP8="}}}`, topic, message)
}

func sns(o *envelope.SNSOptions) func(handler.Handler) handler.Handler {
	return func(h handler.Handler) handler.Handler { return envelope.SNS(h, o) }
}

func TestSNSTakesTheMessageOut(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*envelope.SNSOptions{
		"no options":       nil,
		"its topic":        {Topics: []string{"arn:other", topic}},
		"raw ones as well": {Raw: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, message := range []string{`{"id":1}`, "plain", ""} {
				open(t, sns(o), handlertest.Message{Body: notification(message)}).wantContent(t, message)
			}
		})
	}
}

func TestAttributesOfNotificationOrMessageAreReturned(t *testing.T) {
	t.Parallel()
	own := map[string]any{"tenant": "t-1", "count": 2, "list": "[1]", "photo": []byte{0, 255}}
	for name, m := range map[string]handlertest.Message{
		"in the notification":  {Body: notification("x")},
		"on the message (raw)": {Body: "x", Attributes: own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t, sns(&envelope.SNSOptions{Raw: true}), m)
			for attribute, want := range map[string]string{"tenant": "t-1", "count": "2", "list": "[1]"} {
				if got, ok := o.message.Attribute(attribute); !ok || got != want {
					t.Errorf("%s is %q, %v; want %q", attribute, got, ok, want)
				}
			}
			for _, attribute := range []string{"photo", "other"} {
				if got, ok := o.message.Attribute(attribute); ok {
					t.Errorf("%s is %q, want none", attribute, got)
				}
			}
		})
	}
}

func TestSNSRefusesOtherBodies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 500)
	tests := map[string]struct {
		body  string
		words []string
	}{
		"a payload":    {`{"id":1}`, []string{"a JSON object without Type", "raw message delivery"}},
		"another case": {strings.ReplaceAll(notification("x"), `"Type"`, `"type"`), []string{"without Type"}},
		"text":         {"hello", []string{"body is not JSON", "want an SNS notification"}},
		"empty":        {"", []string{"body is empty"}},
		"null":         {"null", []string{"body is null"}},
		"a string":     {`"x"`, []string{"body is a JSON string"}},
		"an array":     {`[1]`, []string{"body is a JSON array"}},
		"a number":     {`1`, []string{"body is a number"}},
		"a boolean":    {`true`, []string{"body is a boolean"}},
		"another type": {`{"Type":"` + long + `"}`, []string{`a JSON object of Type "xxx`}},
		"no topic":     {`{"Type":"Notification","Message":"x"}`, []string{"without TopicArn"}},
		"no message":   {`{"Type":"Notification","TopicArn":"a"}`, []string{"without a text in Message"}},
		"a message that is no text": {
			`{"Type":"Notification","TopicArn":"a","Message":{"id":1}}`, []string{"without a text in Message"},
		},
		"a confirmation": {
			`{"Type":"SubscriptionConfirmation","TopicArn":"` + topic + `","Token":"secret","SubscribeURL":"https://secret"}`,
			[]string{"SubscriptionConfirmation", topic, "SubscribeURL"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t, sns(nil), handlertest.Message{Body: tt.body})
			o.wantRefused(t, tt.words...)
			if text := o.err.Error(); strings.Contains(text, "secret") || len(text) > 500 {
				t.Errorf("error shows too much: %s", text)
			}
		})
	}
}

func TestSNSRefusesAnotherTopic(t *testing.T) {
	t.Parallel()
	for _, raw := range []bool{false, true} {
		o := open(t, sns(&envelope.SNSOptions{Topics: []string{"arn:other"}, Raw: raw}), handlertest.Message{
			Body: notification("x"),
		})
		o.wantRefused(t, topic, "arn:other", "SNSOptions.Topics")
	}
}

func TestRawBodiesPassOnlyWithRaw(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"id":1}`, "hello", `{"Type":"express"}`, "null"} {
		o := open(t, sns(&envelope.SNSOptions{Raw: true}), handlertest.Message{Body: body})
		o.wantContent(t, body)
	}
}

func FuzzSNS(f *testing.F) {
	for _, body := range []string{notification("x"), `{"Type":"Notification"}`, `{`, "null", `{"Type":1}`, ""} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		strict := open(t, sns(nil), handlertest.Message{Body: body})
		raw := open(t, sns(&envelope.SNSOptions{Raw: true}), handlertest.Message{Body: body})
		switch {
		case strict.err == nil:
			raw.wantContent(t, strict.content)
		case raw.err == nil:
			raw.wantContent(t, body)
		default:
			raw.wantRefused(t)
		}
	})
}
