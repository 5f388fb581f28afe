package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// maxEvent is the maximum payload of a synchronous invocation in bytes (Lambda
// quotas).
const maxEvent = 6 << 20

// shape is a kind of batch.
type shape struct {
	name string
	// messages is the number of messages; 0 means as many as fit into an event.
	messages int
	// bodyBytes is the length of each body.
	bodyBytes int
	// failEvery makes each failEvery-th message fail; 0 means that none fails.
	failEvery int
	// allRead makes bodies of the members that the work uses alone; escapes fills the others
	// with quotes and line ends.
	allRead, escapes bool
	// limits are the largest ratios of processor time to bare, of ours and of ledger.
	limits []float64
	// again is how many more times than others the shape is measured in a
	// round. The largest part of the cost of a small batch is waking threads,
	// which differs between processes of the same program.
	again int
}

func shapes() []shape {
	return []shape{
		{name: "1 × 200 B", messages: 1, bodyBytes: 200, again: 2, limits: []float64{1.10, 1.25}},
		{name: "10 × 1 KB", messages: 10, bodyBytes: 1000, limits: []float64{0.80, 1.15}},
		{name: "1,000 × 1 KB", messages: 1000, bodyBytes: 1000, limits: []float64{0.62, 1.10}},
		{name: "max × 200 B", bodyBytes: 200, limits: []float64{0.65, 1.70}},
		{name: "1,000 × 1 KB, escapes", messages: 1000, bodyBytes: 1000, escapes: true, limits: []float64{0.62, 1.10}},
		{name: "1,000 × 100 B, all read", messages: 1000, bodyBytes: 100, allRead: true, limits: []float64{0.65, 1.50}},
		{name: "10 × 1 KB, 10 % fail", messages: 10, bodyBytes: 1000, failEvery: 10, limits: []float64{0.90, 1.25}},
		{name: "1,000 × 1 KB, 10 % fail", messages: 1000, bodyBytes: 1000, failEvery: 10, limits: []float64{0.72, 1.20}},
	}
}

// event is a batch as the event source mapping sends it.
type event struct {
	payload []byte
	// ids are the offsets of the message ids in the payload. failing are the
	// positions of the messages that fail.
	ids     []int
	failing []int
}

func (s shape) event() *event {
	e := &event{payload: []byte(`{"Records":[`)}
	for i := range cmp.Or(s.messages, maxEvent) {
		fails := s.failEvery > 0 && (i+1)%s.failEvery == 0
		text := record(i, s.body(i, fails))
		if len(e.payload)+len(text)+len(`,]}`) > maxEvent {
			break
		}
		if i > 0 {
			e.payload = append(e.payload, ',')
		}
		if fails {
			e.failing = append(e.failing, i)
		}
		e.ids = append(e.ids, len(e.payload)+strings.Index(text, emptyID))
		e.payload = append(e.payload, text...)
	}
	e.payload = append(e.payload, `]}`...)
	return e
}

const (
	emptyID = "00000000-0000-4000-8000-000000000000"
	arn     = "arn:aws:sqs:us-east-1:123456789012:orders"
	sender  = "AIDAIENQZJOLO23YVJ4VO"
	// handleBytes is the length of a receipt handle of SQS.
	handleBytes = 412
)

func record(i int, body string) string {
	quoted, err := json.Marshal(body)
	if err != nil {
		panic(err) // cannot happen: strings can always be encoded
	}
	handle := fmt.Sprintf("AQEB%0*d", handleBytes-len("AQEB"), i)
	sent := 1_700_000_000_000 + i
	return fmt.Sprintf(`{"messageId":%q,"receiptHandle":%q,"body":%s,"attributes":{`+
		`"ApproximateReceiveCount":"1","SentTimestamp":"%d","SenderId":%q,`+
		`"ApproximateFirstReceiveTimestamp":"%d"},"messageAttributes":{},"md5OfBody":"%032x",`+
		`"eventSource":"aws:sqs","eventSourceARN":%q,"awsRegion":"us-east-1"}`,
		emptyID, handle, quoted, sent, sender, sent+3, i, arn)
}

// body returns an order of exactly bodyBytes: the members that the work uses, and lines and
// a note that it does not use.
func (s shape) body(i int, fails bool) string {
	size := s.bodyBytes
	text := fmt.Sprintf(`{"id":"order-%06d","kind":"order.created","amountCents":%d,"fail":%t`, i, 1000+i, fails)
	if s.allRead {
		return text + strings.Repeat(" ", max(size-len(text)-len("}"), 0)) + "}"
	}
	text += `,"lines":[`
	line, end := `{"sku":"SKU-%05d","quantity":%d,"priceCents":%d}`, `],"note":"%s"}`
	if s.escapes {
		line = `{"sku":"\"SKU\" %05d\n","quantity":%d,"priceCents":%d}`
	}
	for n := 1; ; n++ {
		next := fmt.Sprintf(line, n, n, 100*n)
		if n > 1 {
			next = "," + next
		}
		room := size - len(text) - len(end) + len("%s")
		if len(next) > room {
			return text + fmt.Sprintf(end, strings.Repeat("x", max(room, 0)))
		}
		text += next
	}
}

// renewed returns the payload with new ids for all messages, since a ledger
// remembers those of earlier sequences.
func (e *event) renewed(sequence int) []byte {
	payload := bytes.Clone(e.payload)
	for i, at := range e.ids {
		copy(payload[at:], messageID(sequence, i))
	}
	return payload
}

func messageID(sequence, i int) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", sequence, i)
}
