package stack

import (
	"time"

	"go.yaml.in/yaml/v4"
)

// events reads the SQS events of a function, and notes the others if it has
// any.
func (t *template) events(r *resource, properties section, s *Stack) []SQSEvent {
	all := properties.section("Events")
	var list []SQSEvent
	var others []*yaml.Node
	for _, e := range entries(all.node) {
		event := all.section(e.key.Value)
		switch {
		case event.node == nil:
		case event.text("Type") == "SQS":
			list = append(list, t.event(e.key, r.id+": event "+e.key.Value, event.member("Properties"), s))
		default:
			others = append(others, e.key)
		}
	}
	if len(list) > 0 {
		for _, key := range others {
			t.note(key, "%s: event %s is left alone: it is not of type SQS", r.id, key.Value)
		}
	}
	return list
}

// eventProperties are those that an event of type SQS can have; the second
// value tells that it has no effect here.
var eventProperties = map[string]bool{
	"Queue": false, "BatchSize": false, "MaximumBatchingWindowInSeconds": false, "FunctionResponseTypes": false,
	"ScalingConfig": false, "Enabled": false, "MetricsConfig": false, "KmsKeyArn": false,
	"LoggingConfig":  false,
	"FilterCriteria": true, "ProvisionedPollerConfig": true,
}

func (t *template) event(key *yaml.Node, path string, n *yaml.Node, s *Stack) SQSEvent {
	properties := t.section(path, n, key)
	for _, e := range entries(properties.node) {
		if without, known := eventProperties[e.key.Value]; !known {
			t.fail(e.key, "%s: no property %s on an SQS event: correct its name or remove it", path, e.key.Value)
		} else if without {
			t.note(e.key, "%s: %s has no effect here", path, e.key.Value)
		}
	}
	q := t.eventQueue(properties, s)
	event := SQSEvent{
		Name:                    key.Value,
		Queue:                   q.LogicalID,
		BatchSize:               properties.integer("BatchSize", 10, 1, 10000),
		Window:                  time.Duration(properties.integer("MaximumBatchingWindowInSeconds", 0, 0, 300)) * time.Second,
		ReportBatchItemFailures: t.reportsFailures(properties),
		MaximumConcurrency:      properties.section("ScalingConfig").integer("MaximumConcurrency", 0, 2, 1000),
		Enabled:                 properties.flag("Enabled", true),
	}
	switch {
	case q.FIFO && event.BatchSize > 10:
		properties.fail("BatchSize", " %d: a FIFO queue allows 10", event.BatchSize)
	case q.FIFO && event.Window > 0:
		properties.fail("MaximumBatchingWindowInSeconds", ": a FIFO queue allows no window: remove it")
	case event.BatchSize > 10 && event.Window == 0:
		properties.fail("BatchSize", " %d: above 10 Lambda asks for a MaximumBatchingWindowInSeconds of at least 1",
			event.BatchSize)
	}
	return event
}

func (t *template) eventQueue(properties section, s *Stack) Queue {
	arn := properties.text("Queue")
	q, ok := s.queueByARN(arn)
	switch {
	case ok:
	case arn == "":
		properties.fail("Queue", " is missing: write !GetAtt QUEUE.Arn (queues: %s)", t.ids(kindQueue))
	default:
		properties.fail("Queue", " %q is not the ARN of a queue of this template (%s): write !GetAtt QUEUE.Arn",
			arn, t.ids(kindQueue))
	}
	return q
}

func (t *template) reportsFailures(properties section) bool {
	reports := false
	for _, item := range properties.items("FunctionResponseTypes") {
		value := t.text(item, properties.path+": FunctionResponseTypes")
		if value != "ReportBatchItemFailures" {
			properties.fail("FunctionResponseTypes", " %q: ReportBatchItemFailures is the only one", value)
		}
		reports = true
	}
	return reports
}
