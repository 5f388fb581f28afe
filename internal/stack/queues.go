package stack

import (
	"encoding/json"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"
)

// queueNumbers are the numeric attributes of a queue with the limits of SQS: in
// seconds, except the size, which is in bytes.
var queueNumbers = []struct {
	name      string
	low, high int
}{
	{"DelaySeconds", 0, 900},
	{"MaximumMessageSize", 1024, 1048576},
	{"MessageRetentionPeriod", 60, 1209600},
	{"ReceiveMessageWaitTimeSeconds", 0, 20},
	{"VisibilityTimeout", 0, 43200},
}

// queueFlags are the boolean attributes of a queue.
var queueFlags = []string{"ContentBasedDeduplication", "FifoQueue", "SqsManagedSseEnabled"}

// queueTexts are the attributes of a queue whose values are single words.
var queueTexts = []string{"DeduplicationScope", "FifoThroughputLimit"}

// defaultVisibility is the default visibility timeout of SQS in seconds.
const defaultVisibility = 30

func (t *template) queue(r *resource) Queue {
	properties := t.properties(r)
	t.checkProperties(r, properties)
	q := Queue{
		LogicalID:  r.id,
		Name:       t.physicalName(r),
		ARN:        t.arn(r),
		FIFO:       properties.flag("FifoQueue", false),
		Attributes: map[string]string{},
		Visibility: time.Duration(properties.integer("VisibilityTimeout", defaultVisibility, 0, 43200)) * time.Second,
	}
	q.URL = t.options.QueueURL(q.Name)
	for _, a := range queueNumbers {
		if properties.member(a.name) != nil {
			q.Attributes[a.name] = strconv.Itoa(properties.integer(a.name, 0, a.low, a.high))
		}
	}
	for _, name := range queueFlags {
		if properties.member(name) != nil {
			q.Attributes[name] = strconv.FormatBool(properties.flag(name, false))
		}
	}
	for _, name := range queueTexts {
		if text := properties.text(name); text != "" {
			q.Attributes[name] = text
		}
	}
	if q.Attributes["FifoQueue"] == "false" {
		properties.fail("FifoQueue", " false: SQS takes only true: remove it, or use AWS::NoValue in its place")
	}
	t.redrive(&q, properties)
	t.redriveAllow(&q, properties)
	return q
}

// redrivePolicy is the attribute in the format of SQS.
type redrivePolicy struct {
	Target          string `json:"deadLetterTargetArn"`
	MaxReceiveCount int    `json:"maxReceiveCount"`
}

func (t *template) redrive(q *Queue, properties section) {
	if properties.member("RedrivePolicy") == nil {
		return
	}
	given := properties.section("RedrivePolicy")
	// 1,000 is the maximum of SQS.
	policy := redrivePolicy{given.text("deadLetterTargetArn"), given.integer("maxReceiveCount", 0, 1, 1000)}
	if policy.Target == "" || policy.MaxReceiveCount == 0 {
		t.fail(given.line, "%s: RedrivePolicy needs deadLetterTargetArn and maxReceiveCount", q.LogicalID)
		return
	}
	q.MaxReceiveCount = policy.MaxReceiveCount
	q.Attributes["RedrivePolicy"] = t.encode(policy)
}

func (t *template) redriveAllow(q *Queue, properties section) {
	if properties.member("RedriveAllowPolicy") == nil {
		return
	}
	policy := properties.section("RedriveAllowPolicy")
	q.Attributes["RedriveAllowPolicy"] = t.encode(t.plain(policy.node))
}

// encode returns a value as JSON.
func (t *template) encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.fail(&yaml.Node{}, "a policy cannot be written as JSON: %v", err)
	}
	return string(data)
}

// plain resolves a node and everything in it; it returns nil for AWS::NoValue.
func (t *template) plain(n *yaml.Node) any {
	v := t.resolve(n)
	switch {
	case v == nil:
		return nil
	case v.Kind == yaml.SequenceNode:
		list := []any{}
		for _, item := range v.Content {
			if p := t.plain(item); p != nil {
				list = append(list, p)
			}
		}
		return list
	case v.Kind == yaml.MappingNode:
		mapping := map[string]any{}
		for _, e := range entries(v) {
			if p := t.plain(e.value); p != nil {
				mapping[e.key.Value] = p
			}
		}
		return mapping
	}
	return v.Value
}

// linkDeadLetters sets each queue's redrive target.
func (t *template) linkDeadLetters(s *Stack) {
	for i := range s.Queues {
		q := &s.Queues[i]
		if q.MaxReceiveCount == 0 {
			continue
		}
		at := t.properties(t.resource(q.LogicalID)).section("RedrivePolicy").at("deadLetterTargetArn")
		var policy redrivePolicy
		if err := json.Unmarshal([]byte(q.Attributes["RedrivePolicy"]), &policy); err != nil {
			t.fail(at, "%s: RedrivePolicy: %v", q.LogicalID, err)
		}
		target, ok := s.queueByARN(policy.Target)
		switch {
		case !ok:
			t.fail(at, "%s: redrive target %q is no queue of this template (%s): write !GetAtt QUEUE.Arn",
				q.LogicalID, policy.Target, t.ids(kindQueue))
		case target.FIFO != q.FIFO:
			t.fail(at, "%s: redrive target %s is of the other type: both must be FIFO queues, or neither",
				q.LogicalID, target.LogicalID)
		}
		q.DeadLetterQueue = target.LogicalID
	}
}

func (s *Stack) queueByARN(arn string) (Queue, bool) {
	for _, q := range s.Queues {
		if q.ARN == arn {
			return q, true
		}
	}
	return Queue{}, false
}
