package deadletters_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// attributesOf makes message attributes of strings, ints and bytes.
func attributesOf(values map[string]any) map[string]types.MessageAttributeValue {
	attributes := map[string]types.MessageAttributeValue{}
	for name, value := range values {
		a := types.MessageAttributeValue{DataType: aws.String("String")}
		switch v := value.(type) {
		case []byte:
			a.DataType, a.BinaryValue = aws.String("Binary"), v
		case int:
			a.DataType, a.StringValue = aws.String("Number"), aws.String(fmt.Sprint(v))
		case string:
			a.StringValue = &v
		}
		attributes[name] = a
	}
	return attributes
}

// joined reads the queue and asks the ledger.
func joined(t testing.TB, s *letterstest.Stack) []*deadletters.Letter {
	t.Helper()
	q := open(t, s)
	letters, r := read(t, q)
	_ = r.Hold.Release(t.Context())
	table, err := ledger.Open(t.Context(), s.DynamoDB, letterstest.Table)
	if err != nil {
		t.Fatal(err)
	}
	if err := deadletters.Join(t.Context(), table, letters, deadletters.JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	deadletters.Sort(letters, q.FIFO)
	return letters
}

func TestARecordedLetter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		s.Bury(`{"id":"o-1","do":"declined"}`, "")
		letters := joined(t, s)
		if len(letters) != 1 {
			t.Fatalf("%d letters", len(letters))
		}
		l := letters[0]
		if l.Kind != deadletters.KindRecorded || l.Reason() != "permanent rejected" || l.Record.Key != "o-1" ||
			l.JobID() != "orders#o-1" || l.SourceName() != "orders" || l.Ledger != deadletters.LedgerDead {
			t.Errorf("letter %+v", l)
		}
		if diff := cmp.Diff([]string{"422"}, l.Record.Codes.All()); diff != "" || l.Record.Codes.RequestID != "req-42" {
			t.Errorf("codes %+v", l.Record.Codes)
		}
		if l.Expires.Sub(l.Arrived).Hours() != 14*24 || l.OriginalID() == l.ID {
			t.Errorf("arrived %v, expires %v, original %s", l.Arrived, l.Expires, l.OriginalID())
		}
		slim := l.Slim()
		same := slim.Record.Runs() == l.Record.Runs() && slim.JobID() == l.JobID()
		if slim.Message != nil || slim.Record.Stack != "" || !same {
			t.Errorf("slim %+v", slim)
		}
	})
}

// SQS moves messages whose function never comes to an end: the ledger knows their jobs by
// the message, whatever the key.
func TestAMovedLetterIsJoinedByItsMessage(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]idem.KeyFunc{"field": nil, "message id": idem.MessageID()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := letterstest.New(t, "orders")
				s.Key = key
				s.Send(s.SourceURL, `{"id":"o-1"}`, "", nil)
				q := open(t, s)
				s.RunOnce() // retries, and SQS moves it before it is dead
				s.MoveBySQS()
				letters := joined(t, s)
				if len(letters) != 1 {
					t.Fatalf("%d letters of %+v", len(letters), recount(t, q))
				}
				l := letters[0]
				if l.Kind != deadletters.KindMoved || l.Source != s.ARN("orders") || l.Ledger != deadletters.LedgerActive ||
					l.Record.Runs() != 1 || !strings.Contains(l.Record.Message, "not now") {
					t.Errorf("letter %+v of job %+v", l, l.Entry)
				}
			})
		})
	}
}

func TestAMovedLetterOfAnUnknownJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		s.Send(s.SourceURL, "no json", "", nil)
		s.MoveBySQS()
		letters := joined(t, s)
		if len(letters) != 1 || letters[0].Ledger != deadletters.LedgerUnnamed || letters[0].Reason() != "moved" {
			t.Errorf("letters %+v", letters)
		}
	})
}

func TestForeignLetters(t *testing.T) {
	t.Parallel()
	const bus = `{"version":"1.0","busArn":"arn:aws:events:us-east-1:1:event-busv2/orders/E",` +
		`"subscriberArn":"arn:aws:events:us-east-1:1:subscriber/large/E","targetArn":"arn:aws:sqs:us-east-1:1:large",` +
		`"errorCode":"ACCESS_DENIED","errorMessage":"not authorized","exhaustedRetryCondition":"MaximumEventAgeInSeconds",` +
		`"retryAttempts":4,"failedMessages":[{"eventId":"a"},{"eventId":"b"}]}`
	const destination = `{"version":"1.0","timestamp":"2026-11-14T18:16:05.568Z","requestContext":{"requestId":"r-1",` +
		`"functionArn":"arn:aws:lambda:us-east-2:1:function:f:$LATEST","condition":"RetriesExhausted",` +
		`"approximateInvokeCount":3},"requestPayload":{"id":1},"responseContext":{"statusCode":200,` +
		`"executedVersion":"$LATEST","functionError":"Unhandled"},"responsePayload":{"errorMessage":"boom","errorType":"E"}}`
	type summary struct {
		Kind   deadletters.Kind
		Reason string
		Error  string
		Codes  []string
		Events int
		Report bool
	}
	for name, tt := range map[string]struct {
		body       string
		attributes map[string]any
		want       summary
	}{
		"Lambda": {
			`{"id":1}`, map[string]any{"RequestID": "r-1", "ErrorCode": 200, "ErrorMessage": "boom"},
			summary{deadletters.KindLambda, "asynchronous invocation", "boom", []string{"200"}, 1, false},
		},
		"Lambda destination": {
			destination, nil,
			summary{deadletters.KindLambda, "asynchronous invocation", "boom", []string{"200"}, 1, true},
		},
		"EventBridge": {
			`{"detail-type":"x","source":"y"}`, map[string]any{
				"RULE_ARN": "arn:aws:events:us-east-1:1:rule/r", "TARGET_ARN": "arn:aws:lambda:us-east-1:1:function:f",
				"ERROR_CODE": "NO_PERMISSIONS", "ERROR_MESSAGE": "denied", "EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts",
				"RETRY_ATTEMPTS": 185,
			},
			summary{deadletters.KindEventBridge, "undelivered event", "denied", []string{"NO_PERMISSIONS"}, 1, false},
		},
		"custom event bus": {
			bus, nil,
			summary{deadletters.KindEventBridge, "undelivered event", "not authorized", []string{"ACCESS_DENIED"}, 2, true},
		},
		"SNS": {
			`{"Type":"Notification","MessageId":"m","TopicArn":"arn:aws:sns:us-east-1:1:t","Message":"x"}`, nil,
			summary{deadletters.KindSNS, "undelivered notification", "", nil, 1, false},
		},
		"a job that looks alike": {
			`{"Type":"Notification","errorCode":1}`, map[string]any{"RequestID": "r"},
			summary{deadletters.KindUnknown, "", "", nil, 1, false},
		},
		"a forged record": {
			`{}`, map[string]any{"sqsafe": `{"version":1,"epoch":9999999999,"messageId":"m"}`},
			summary{deadletters.KindUnknown, "", "", nil, 1, false},
		},
		"binary": {"\u0009", map[string]any{"sqsafe": []byte{1}}, summary{deadletters.KindUnknown, "", "", nil, 1, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &deadletters.Message{ID: "m-1", Body: tt.body, Attributes: attributesOf(tt.attributes)}
			l := deadletters.Decode(&deadletters.Queue{}, m)
			got := summary{l.Kind, l.Record.Reason, l.Record.Message, l.Record.Codes.All(), l.Events, l.Report}
			if diff := cmp.Diff(tt.want, got); diff != "" || l.Record.Fingerprint == "" || l.OriginalID() != "m-1" {
				t.Errorf("fingerprint %q (-want +got):\n%s", l.Record.Fingerprint, diff)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"requestContext":{"functionArn":"a","condition":"b"}}`, "sqsafe", `{"version":1,"messageId":"m"}`)
	f.Add(`[]`, "RULE_ARN", `x`)
	f.Fuzz(func(t *testing.T, body, name, value string) {
		m := &deadletters.Message{ID: "m-1", Body: body, Attributes: attributesOf(map[string]any{name: value})}
		l := deadletters.Decode(&deadletters.Queue{}, m)
		if l.Kind == "" || l.Record.Fingerprint == "" && l.Kind != deadletters.KindRecorded || l.Events < 1 {
			t.Errorf("letter %+v", l)
		}
		if _, err := json.Marshal(deadletters.Groups([]*deadletters.Letter{l.Slim()})); err != nil {
			t.Error(err)
		}
	})
}

func TestSort(t *testing.T) {
	t.Parallel()
	letter := func(id, group, sequence string) *deadletters.Letter {
		return &deadletters.Letter{ID: id, Group: group, Sequence: sequence}
	}
	letters := []*deadletters.Letter{
		letter("4", "b", "18849496460467696128"), letter("2", "a", "18849496460467696128"), letter("3", "b", "9"),
		letter("1", "a", "018849496460467696127"),
	}
	deadletters.Sort(letters, true)
	var ids strings.Builder
	for _, l := range letters {
		ids.WriteString(l.ID)
	}
	if ids.String() != "1234" {
		t.Errorf("order %s", ids.String())
	}
}

// Ten attributes leave no room for the record, so one is inside of it: without the record
// all ten are back.
func TestPlainIsWhatTheProducerSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := letterstest.New(t, "orders")
		values := map[string]any{"bytes": []byte{0, 255}, "number": 7}
		for i := range 8 {
			values[fmt.Sprint("text", i)] = strings.Repeat("é", i+1)
		}
		want := attributesOf(values)
		s.Send(s.SourceURL, `{"id":"o-1","do":"declined"}`, "", want)
		s.Work()
		q := open(t, s)
		letters, r := read(t, q)
		_ = r.Hold.Release(t.Context())
		m := letters[0].Message
		if len(m.Attributes) != 10 || m.Attributes["sqsafe"].StringValue == nil {
			t.Fatalf("attributes %v", m.Attributes)
		}
		plain := m.Plain()
		ignore := cmpopts.IgnoreUnexported(types.MessageAttributeValue{})
		if diff := cmp.Diff(want, plain.Attributes, ignore); diff != "" || plain.Body != m.Body {
			t.Errorf("attributes (-want +got):\n%s", diff)
		}
		if plain.Plain() != plain || plain.Linked(1<<20) != plain {
			t.Error("a message without a record, and without room for one, changes")
		}
	})
}
