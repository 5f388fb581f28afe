package powertools_test

import (
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// pythonMessage is a message as boto3 has it.
type pythonMessage struct {
	Body            []byte
	BodyMatches     bool
	AttributesMatch bool
	// Attributes have the type and the value, each in base64.
	Attributes map[string][2]string
	Group      string
}

// attribute returns an attribute as a Python program prints it.
func attribute(a types.MessageAttributeValue) [2]string {
	value := a.BinaryValue
	if a.StringValue != nil {
		value = []byte(*a.StringValue)
	}
	return [2]string{*a.DataType, base64.StdEncoding.EncodeToString(value)}
}

// letterBodies are payloads that a reader in another language might get wrong.
func letterBodies() []string {
	return []string{
		`{"id":"plain","do":"declined"}`,
		`{"id":"text","do":"declined","note":"tab\\t, \u00e4\u00f6 \u2028 \U0001f4a5 </pre>"}`,
		"{\r\n\t\"id\":\"lines\",\n\"do\":\"declined\"}\n",
		`{"id":"large","do":"declined","x":"` + strings.Repeat("\u20ac", 300_000) + `"}`,
	}
}

// attributesFor returns as many attributes as SQS allows, of all types.
func attributesFor(n int) map[string]types.MessageAttributeValue {
	all := map[string]types.MessageAttributeValue{}
	for i := range n {
		a := types.MessageAttributeValue{StringValue: aws.String(fmt.Sprint("v\u00fc-", i))}
		switch kind := []string{"String", "Binary", "Number.int", "Binary.gzip"}[i%4]; kind {
		case "Number.int":
			a.StringValue = aws.String(fmt.Sprint(i))
			fallthrough
		case "String":
			a.DataType = &kind
		default:
			a = types.MessageAttributeValue{DataType: &kind, BinaryValue: []byte{0, 0xff, 0x1f, 0x8b, byte(i)}}
		}
		all[fmt.Sprintf("a.%d", i)] = a
	}
	return all
}

// What the sender and a replay send is the same in boto3: bodies byte for byte, attributes of
// all types, and checksums that are right.
func TestBoto3ReadsLetters(t *testing.T) {
	t.Parallel()
	server := localaws.New(nil)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	b := &boto3{T: t, program: start(t, "letters.py", web.URL)}
	for _, source := range []string{"orders", "stock.fifo"} {
		s := letterstest.On(t, server, endpoint.Config(web.URL), source)
		b.group = strings.Repeat("g", strings.Count(source, ".fifo"))
		b.want = map[string]map[string][2]string{}
		for i, body := range letterBodies() {
			attributes := attributesFor([]int{9, 10, 1, 0}[i])
			s.Send(s.SourceURL, body, b.group, attributes)
			b.want[body] = map[string][2]string{}
			for name, a := range attributes {
				b.want[body][name] = attribute(a)
			}
		}
		s.Work()
		b.reads("sent by the function", s.DeadURL)
		b.replay(s, false)
		b.reads("replayed", s.SourceURL)
		s.Work()
		b.replay(s, true)
		b.reads("replayed as its producer sent it", s.SourceURL)
	}
}

// boto3 is a program that reads queues.
type boto3 struct {
	*testing.T
	program

	group string
	want  map[string]map[string][2]string // attributes by body
}

// reads lets boto3 read a queue. An attribute that made place for the failure record is in
// the record.
func (b *boto3) reads(what, url string) {
	b.Helper()
	var messages []pythonMessage
	b.ask(b.T, url, &messages)
	if len(messages) != len(b.want) {
		b.Errorf("%s: %d messages, want %d", what, len(messages), len(b.want))
	}
	for _, m := range messages {
		if record, there := m.Attributes[dlq.AttributeName]; there {
			delete(m.Attributes, dlq.AttributeName)
			for name, a := range b.record(record[1]).Displaced {
				m.Attributes[name] = attribute(types.MessageAttributeValue{
					DataType: &a.Type, StringValue: a.Value, BinaryValue: a.Binary,
				})
			}
		}
		want, known := b.want[string(m.Body)]
		if !known || !m.BodyMatches || !m.AttributesMatch || m.Group != b.group {
			b.Errorf("%s: %.40q known %v, checksums %v %v, group %q", what, m.Body, known, m.BodyMatches, m.AttributesMatch,
				m.Group)
		}
		if diff := cmp.Diff(want, m.Attributes); diff != "" {
			b.Errorf("%s: %.40q (-want +got):\n%s", what, m.Body, diff)
		}
	}
}

func (b *boto3) record(encoded string) dlq.Record {
	b.Helper()
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		b.Fatal(err)
	}
	record, err := dlq.Decode(string(text))
	if err != nil {
		b.Fatal(err)
	}
	return record
}

// replay sends all letters back.
func (b *boto3) replay(s *letterstest.Stack, plain bool) {
	b.Helper()
	q, err := deadletters.Open(b.Context(), s.SQS, s.DeadURL)
	if err != nil {
		b.Fatal(err)
	}
	o := &replay.Operation{Queue: q, Directory: b.TempDir(), Options: replay.Options{Plain: plain, Growth: -1}}
	pass, err := o.Look(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if sum, err := o.Execute(b.Context(), pass); err != nil || sum.Failed() {
		b.Fatalf("%+v, %v", sum, err)
	}
}
