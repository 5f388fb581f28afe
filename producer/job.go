package producer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sqsafe/sqsafe/internal/jobid"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// Job is a job to send.
type Job struct {
	// Key identifies the job: two messages with one key are one job to the consumer. It
	// is sent as the message attribute that [Options].KeyAttribute names, for consumers
	// with the key function idem.Attribute. In a FIFO queue it is the deduplication id too,
	// unless there is another one. Empty for jobs whose key is in their payload.
	Key string
	// Payload is sent as JSON, by [json.Marshal]; nil means that Body is sent.
	Payload any
	// Body is sent unchanged. It must not be empty if Payload is nil.
	Body string
	// Group is the message group id. Jobs of one group of a FIFO queue are processed in
	// order. In a standard queue it is the tenant of a fair queue: jobs of other tenants
	// do not wait behind a tenant that sends very many. Required in a FIFO queue.
	Group string
	// DeduplicationID is for FIFO queues: SQS drops a second message with the same id for
	// 5 minutes. Empty means the Key, or its hash if SQS would not take it; without a Key
	// the queue needs content-based deduplication.
	DeduplicationID string
	// Attributes are message attributes of type String: up to 10 (SQS), with those that the
	// Producer adds for the key, the encoding and a claim check.
	Attributes map[string]string
	// Delay is the time before the message is visible: 0 to 15 min in whole seconds. A
	// FIFO queue takes none.
	Delay time.Duration
}

// members are the names of a Job's fields in errors.
var members = map[string]string{"group": "Group", "dedup": "DeduplicationID", "delay": "Delay"}

// longestDeduplicationID is the most characters of a MessageDeduplicationId.
const longestDeduplicationID = 128

// draft returns the message of a job, without a trace, or an error that names what is wrong.
func (p *Producer) draft(j *Job) (*sqssend.Draft, error) {
	body, err := j.body()
	if err != nil {
		return nil, err
	}
	d := &sqssend.Draft{
		Queue: p.queue, Body: body, Group: j.Group, Dedup: j.DeduplicationID, Delay: j.Delay,
		Attributes: sqssend.Texts(j.Attributes), Member: func(name string) string { return members[name] },
	}
	if j.Key != "" {
		if own, taken := j.Attributes[p.options.KeyAttribute]; taken && own != j.Key {
			return nil, fmt.Errorf("it has the key %q and the attribute %s is %q; leave one of them out",
				j.Key, p.options.KeyAttribute, own)
		}
		set(d, p.options.KeyAttribute, sqssend.Text(j.Key))
		if p.queue.FIFO && d.Dedup == "" {
			d.Dedup = jobid.Bounded(j.Key, longestDeduplicationID, jobid.Visible)
		}
	}
	return d, nil
}

func (j *Job) body() (string, error) {
	switch {
	case j.Payload == nil:
		return j.Body, nil
	case j.Body != "":
		return "", errors.New("it has a Payload and a Body; leave one of them out")
	}
	encoded, err := json.Marshal(j.Payload)
	if err != nil {
		return "", fmt.Errorf("the payload is no JSON: %w", err)
	}
	return string(encoded), nil
}

// withTrace adds the trace context, as far as it fits into the message. A job's own
// attributes come first.
func (p *Producer) withTrace(d *sqssend.Draft, trace map[string]string) {
	plain := maps.Clone(trace)
	d.Trace = plain[traceHeader]
	delete(plain, traceHeader)
	for name, value := range plain {
		if _, taken := d.Attributes[name]; taken || value == "" || len(d.Attributes) >= sqssend.MaxAttributes {
			continue
		}
		text := sqssend.Text(value)
		if set(d, name, text); d.Large() {
			delete(d.Attributes, name)
		}
	}
}
