package check

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// consumer is an event source mapping on an SQS queue: an event of a SAM
// function, or an AWS::Lambda::EventSourceMapping.
type consumer struct {
	owner    *resource  // the function with the event, or the mapping
	function *resource  // nil if it is not in the template
	queue    *resource  // nil if it is not in the template
	key      *yaml.Node // of the event or the mapping
	props    value
	fifo     truth
	exists   truth
	// qualified says whether it names a version or an alias of the function.
	qualified truth
}

// addEvents adds the SQS events of a SAM function.
func (m *model) addEvents(f *resource) {
	if f.kind != typeServerless || f.exists == no {
		return
	}
	events := f.props.get("Events")
	for _, e := range cfn.Entries(events.node) {
		event := m.resolve(e.Value)
		if event.get("Type").text != "SQS" {
			continue
		}
		c := &consumer{
			owner: f, function: f, key: e.Key, props: event.get("Properties"), exists: f.exists,
			qualified: truthOf(!f.props.get("AutoPublishAlias").absent()),
		}
		m.addConsumer(c, "Queue")
	}
}

// addMapping adds an event source mapping if its source is, or may be, a queue.
func (m *model) addMapping(r *resource) {
	if r.kind != typeMapping || r.exists == no {
		return
	}
	source := r.props.get("EventSourceArn")
	if q, _ := m.queueOf(source); q == nil && !strings.Contains(source.text, ":sqs:") {
		return
	}
	c := &consumer{owner: r, key: r.key, props: r.props, exists: r.exists}
	c.function, c.qualified = m.functionOf(r.props.get("FunctionName"))
	if c.function != nil {
		c.exists = c.exists.and(c.function.exists)
	}
	m.addConsumer(c, "EventSourceArn")
}

func (m *model) addConsumer(c *consumer, source string) {
	v := c.props.get(source)
	c.queue, _ = m.queueOf(v)
	switch {
	case c.queue != nil:
		c.fifo, c.exists = fifo(c.queue), c.exists.and(c.queue.exists)
	case v.known():
		c.fifo = truthOf(strings.HasSuffix(v.text, ".fifo"))
	}
	if c.exists != no {
		m.consumers = append(m.consumers, c)
	}
}

// at returns the node that a finding about a property points to.
func (c *consumer) at(property string) *yaml.Node {
	if n := keyOf(c.props.node, property); n != nil {
		return n
	}
	return c.key
}

// name is what messages call it.
func (c *consumer) name() string {
	if c.owner.kind == typeServerless {
		return "event " + c.key.Value + " of " + c.owner.id
	}
	return c.owner.id
}

// enabled says whether the mapping polls.
func (c *consumer) enabled() truth { return c.props.get("Enabled").flag(yes) }

func (c *consumer) batch() number { return c.props.get("BatchSize").number(defaultBatch) }

func (c *consumer) window() number {
	return c.props.get("MaximumBatchingWindowInSeconds").number(0)
}

func (c *consumer) concurrency() number {
	return c.props.get("ScalingConfig").get("MaximumConcurrency").number(0)
}

// reports says whether the mapping takes the failures of single messages.
func (c *consumer) reports() truth {
	items, whole := c.props.get("FunctionResponseTypes").items()
	for _, item := range items {
		if item.text == "ReportBatchItemFailures" {
			return yes
		}
	}
	if !whole || c.props.kind == kindUnknown {
		return maybe
	}
	return no
}

// consumersOf returns the consumers of a queue.
func (m *model) consumersOf(q *resource) []*consumer {
	var list []*consumer
	for _, c := range m.consumers {
		if c.queue == q {
			list = append(list, c)
		}
	}
	return list
}

// served returns the functions that a queue invokes, each once.
func (m *model) served() []*resource {
	var list []*resource
	seen := map[*resource]bool{}
	for _, c := range m.consumers {
		if c.function != nil && !seen[c.function] {
			seen[c.function] = true
			list = append(list, c.function)
		}
	}
	return list
}
