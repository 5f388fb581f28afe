package stack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

// events reads the SQS events of a function and the mappings that name it, and
// adds a note for each of its other events. found reports whether there was any
// SQS event or mapping, even if all of them were skipped.
func (t *template) events(r *resource, properties section, mappings []*resource, s *Stack) (
	list []SQSEvent, found bool) {
	all := properties.section("Events")
	var others []*yaml.Node
	add := func(event SQSEvent, ok bool) {
		found = true
		if ok {
			list = append(list, event)
		}
	}
	for _, e := range entries(all.node) {
		event := all.section(e.key.Value)
		switch {
		case event.node == nil:
		case event.text("Type") == "SQS":
			path := r.id + ": event " + e.key.Value
			one, ok := t.event(e.key, "Queue", t.section(path, event.member("Properties"), e.key), s)
			t.refuseSameQueue(e.key, path, one, list)
			add(one, ok)
		case strings.EqualFold(event.text("Type"), "SQS"):
			event.fail("Type", " %q: write SQS", event.text("Type"))
		default:
			others = append(others, e.key)
		}
	}
	for _, m := range mappings {
		add(t.event(m.node, "EventSourceArn", t.properties(m), s))
	}
	if len(list) > 0 {
		for _, key := range others {
			t.note(key, "%s: event %s is left alone: it is not of type SQS", r.id, key.Value)
		}
	}
	return list, found
}

// refuseSameQueue refuses a second event of a function for the same queue, as
// Lambda does.
func (t *template) refuseSameQueue(key *yaml.Node, path string, event SQSEvent, before []SQSEvent) {
	for _, other := range before {
		if event.Queue != "" && other.Queue == event.Queue {
			t.fail(key, "%s is on %s as event %s is: a function has one event for a queue: remove one",
				path, event.Queue, other.Name)
		}
	}
}

// eventProperties are the properties of an event of type SQS; the value is true
// if the property has no effect here.
var eventProperties = map[string]bool{
	"BatchSize": false, "MaximumBatchingWindowInSeconds": false, "FunctionResponseTypes": false,
	"ScalingConfig": false, "Enabled": false, "MetricsConfig": false, "KmsKeyArn": false,
	"LoggingConfig": false, "FilterCriteria": false,
	"ProvisionedPollerConfig": true,
}

// namingProperties are the properties that differ between an event and a
// mapping, by the property that names the queue.
var namingProperties = map[string][]string{
	"Queue":          {"Queue"},
	"EventSourceArn": {"EventSourceArn", "FunctionName", "Tags"},
}

// event reads one event. source is the property that names its queue. The
// result is false if the event is skipped.
func (t *template) event(key *yaml.Node, source string, properties section, s *Stack) (SQSEvent, bool) {
	q, ok := t.eventQueue(key, source, properties, s)
	if !ok {
		return SQSEvent{}, false
	}
	t.checkEventProperties(source, properties)
	event := SQSEvent{
		Name:                    key.Value,
		Queue:                   q.LogicalID,
		BatchSize:               properties.integer("BatchSize", 10, 1, 10000),
		Window:                  time.Duration(properties.integer("MaximumBatchingWindowInSeconds", 0, 0, 300)) * time.Second,
		ReportBatchItemFailures: t.reportsFailures(properties),
		MaximumConcurrency:      properties.section("ScalingConfig").integer("MaximumConcurrency", 0, 2, 1000),
		Filters:                 t.filters(properties),
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
	return event, true
}

func (t *template) checkEventProperties(source string, properties section) {
	for _, e := range entries(properties.node) {
		name := e.key.Value
		without, known := eventProperties[name]
		switch {
		case without:
			t.note(e.key, "%s: %s has no effect here", properties.path, name)
		case !known && !slices.Contains(namingProperties[source], name):
			names := slices.AppendSeq(slices.Clone(namingProperties[source]), maps.Keys(eventProperties))
			t.fail(e.key, "%s: no property %q on an SQS event: %s", properties.path, name,
				remedy(name, "", slices.Sorted(slices.Values(names))))
		}
	}
}

// eventQueue returns the queue of an event. The result is false if the queue is
// not in the template: then the event is skipped.
func (t *template) eventQueue(key *yaml.Node, source string, properties section, s *Stack) (Queue, bool) {
	var arn string
	if e := t.attempt(func() { arn = properties.text(source) }); e != nil {
		t.skip(key, properties.path, e)
		return Queue{}, false
	}
	q, ok := s.queueByARN(arn)
	if ok || t.err != nil {
		return q, ok
	}
	if arn == "" {
		properties.fail(source, " is missing: write !GetAtt QUEUE.Arn (queues: %s)", t.ids(kindQueue))
		return q, false
	}
	problem := fmt.Sprintf("%s: %s %q is not the ARN of a queue of this template (%s): write !GetAtt QUEUE.Arn",
		properties.path, source, arn, t.ids(kindQueue))
	e := &Error{File: t.file, Line: properties.at(source).Line, Message: problem}
	if strings.HasPrefix(arn, "arn:") {
		t.skip(key, properties.path, e)
	} else {
		t.err = e
	}
	return q, false
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

func (t *template) filters(properties section) []string {
	criteria := properties.section("FilterCriteria")
	var patterns []string
	for _, item := range criteria.items("Filters") {
		one := t.section(criteria.path+": Filters", item, item)
		pattern := one.text("Pattern")
		if _, err := filter.Parse(pattern); err != nil {
			one.fail("Pattern", ": %v", err)
		}
		patterns = append(patterns, pattern)
	}
	if len(patterns) == 0 {
		return nil
	}
	if _, err := filter.Parse(patterns...); err != nil {
		criteria.fail("Filters", ": %v", err)
	}
	return patterns
}

// mappingsByFunction returns for each function the mapping resources that name
// it, by its name or its ARN, with or without a version or an alias.
func (t *template) mappingsByFunction(functions []*resource) map[*resource][]*resource {
	named := map[*resource][]*resource{}
	for _, m := range t.resources {
		if m.kind != kindMapping || !t.exists(m) {
			continue
		}
		var name string
		if e := t.attempt(func() { name = t.properties(m).text("FunctionName") }); e != nil {
			t.skip(m.node, m.id, e)
			continue
		}
		i := slices.IndexFunc(functions, func(f *resource) bool {
			known := name == t.physicalName(f) || strings.HasPrefix(name+":", t.arn(f)+":")
			return known || strings.HasPrefix(name, t.physicalName(f)+":")
		})
		if i < 0 {
			t.note(m.node, "%s is left alone: its FunctionName %q is no %s of this template", m.id, name, kindFunction)
			continue
		}
		named[functions[i]] = append(named[functions[i]], m)
	}
	return named
}
