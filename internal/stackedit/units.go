package stackedit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/alarmset"
)

const (
	kindFunction = "AWS::Serverless::Function"
	kindQueue    = "AWS::SQS::Queue"
)

func decodeRune(b []byte) (rune, int) { return utf8.DecodeRune(b) }

// functions lists the units of the template's SAM functions with an SQS event, in
// their order. The notes say which functions are left out.
func (t *template) functions() (units []alarmset.Unit, notes []string) {
	resources := value(t.root, "Resources")
	if resources == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(resources.Content); i += 2 {
		id, r := resources.Content[i].Value, resources.Content[i+1]
		if text(value(r, "Type")) != kindFunction {
			continue
		}
		u, why := t.function(id, r)
		switch {
		case why != "":
			notes = append(notes, id+" is left alone: "+why)
		case slices.ContainsFunc(units, func(o alarmset.Unit) bool { return o.Prefix == u.Prefix }):
			u.Prefix = id // Charge and ChargeFunction
			units = append(units, u)
		default:
			units = append(units, u)
		}
		if more := t.events(r); why == "" && len(more) > 1 {
			notes = append(notes, id+": the alarms are for its first SQS event, "+more[0]+"; watch the queue of "+
				strings.Join(more[1:], ", ")+" by hand")
		}
	}
	return units, notes
}

// function reads the unit of a function. why says what is missing.
func (t *template) function(id string, r *yaml.Node) (u alarmset.Unit, why string) {
	event, queue := t.event(r)
	if event == "" {
		return u, "it has no SQS event"
	}
	source, dead, why := t.queues(queue)
	if why == "" {
		why = t.conditional(id, source, dead)
	}
	if why != "" {
		return u, why
	}
	u = alarmset.Unit{
		Prefix: strings.TrimSuffix(id, "Function"), Function: id, Mapping: id + event, Source: source, Dead: dead,
		LogGroup: "/aws/lambda/${" + id + "}", Namespace: t.namespace(r), Timeout: "3",
		Alias: text(t.property(r, "AutoPublishAlias")),
	}
	if u.Prefix == "" {
		u.Prefix = id
	}
	if group, _ := reference(value(t.property(r, "LoggingConfig"), "LogGroup")); group != "" {
		u.LogGroup = "${" + group + "}"
	}
	if n := t.property(r, "Timeout"); n != nil {
		if parameter, _ := reference(n); parameter != "" {
			u.Timeout = "${" + parameter + "}"
		} else {
			u.Timeout = text(n)
		}
	}
	return u, ""
}

// property is that of a function, or of Globals without one.
func (t *template) property(r *yaml.Node, name string) *yaml.Node {
	if n := value(r, "Properties", name); n != nil {
		return n
	}
	return value(t.root, "Globals", "Function", name)
}

// event returns the name of the function's first SQS event, and its queue.
func (t *template) event(r *yaml.Node) (name string, queue *yaml.Node) {
	names := t.events(r)
	if len(names) == 0 {
		return "", nil
	}
	return names[0], value(r, "Properties", "Events", names[0], "Properties", "Queue")
}

// events are the names of the function's SQS events.
func (t *template) events(r *yaml.Node) []string {
	events := value(r, "Properties", "Events")
	if events == nil {
		return nil
	}
	var names []string
	for i := 0; i+1 < len(events.Content); i += 2 {
		if text(value(events.Content[i+1], "Type")) == "SQS" {
			names = append(names, events.Content[i].Value)
		}
	}
	return names
}

// queues returns the source queue and its dead-letter queue, by their logical ids.
func (t *template) queues(arn *yaml.Node) (source, dead, why string) {
	source, attribute := reference(arn)
	queue := value(t.root, "Resources", source)
	if attribute != "Arn" || text(value(queue, "Type")) != kindQueue {
		return "", "", "its queue is not a queue of this template, named by !GetAtt QUEUE.Arn"
	}
	dead, attribute = reference(value(queue, "Properties", "RedrivePolicy", "deadLetterTargetArn"))
	if attribute != "Arn" || text(value(t.root, "Resources", dead, "Type")) != kindQueue {
		return "", "", source + " has no dead-letter queue of this template: give it a RedrivePolicy with " +
			"deadLetterTargetArn: !GetAtt QUEUE.Arn"
	}
	return source, dead, ""
}

// conditional says which of the resources has a condition. What refers to it
// cannot be deployed where the condition is false.
func (t *template) conditional(ids ...string) string {
	for _, id := range ids {
		if condition := text(value(t.root, "Resources", id, "Condition")); condition != "" {
			return id + " has the Condition " + condition + ", and alarms on it would fail to deploy where that is false: " +
				"take it out for this command, and put it into each alarm afterwards"
		}
	}
	return ""
}

// namespace is the text of the namespace of the function's own metrics.
func (t *template) namespace(r *yaml.Node) string {
	for _, from := range []*yaml.Node{value(r, "Properties"), value(t.root, "Globals", "Function")} {
		n := value(from, "Environment", "Variables", "SQSAFE_METRICS_NAMESPACE")
		if id, _ := reference(n); id != "" {
			return "!Ref " + id
		}
		if s := text(n); s != "" {
			return s
		}
	}
	return "sqsafe"
}

// worker is the unit of a worker that polls a queue of the template. The value of
// its metrics' dimension is the name of the queue.
func (t *template) worker(id string) (alarmset.Unit, error) {
	queue := value(t.root, "Resources", id)
	if text(value(queue, "Type")) != kindQueue {
		return alarmset.Unit{}, fmt.Errorf("%s: %s is no queue of this template", t.file, id)
	}
	dead, attribute := reference(value(queue, "Properties", "RedrivePolicy", "deadLetterTargetArn"))
	if attribute != "Arn" || text(value(t.root, "Resources", dead, "Type")) != kindQueue {
		return alarmset.Unit{}, fmt.Errorf("%s: %s has no dead-letter queue of this template: give it a RedrivePolicy",
			t.file, id)
	}
	if why := t.conditional(id, dead); why != "" {
		return alarmset.Unit{}, fmt.Errorf("%s: %s", t.file, why)
	}
	return alarmset.Unit{
		Prefix: strings.TrimSuffix(id, "Queue"), Source: id, Dead: dead, Namespace: "sqsafe",
		Metrics: "!GetAtt " + id + ".QueueName",
	}, nil
}
