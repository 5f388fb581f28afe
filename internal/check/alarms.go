package check

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// metric is one metric that an alarm reads.
type metric struct {
	namespace, name string
	dimensions      value
	at              *yaml.Node
}

// metrics returns the metrics of an alarm. whole is false if it may have others.
func metrics(alarm *resource) (list []metric, whole bool) {
	own := metric{
		namespace: alarm.props.get("Namespace").text, name: alarm.props.get("MetricName").text,
		dimensions: alarm.props.get("Dimensions"), at: alarm.at("MetricName"),
	}
	if own.name != "" {
		list = append(list, own)
	}
	queries, whole := alarm.props.get("Metrics").items()
	for _, q := range queries {
		m := q.get("MetricStat").get("Metric")
		if m.absent() {
			continue
		}
		one := metric{
			namespace: m.get("Namespace").text, name: m.get("MetricName").text, dimensions: m.get("Dimensions"),
			at: q.node,
		}
		list = append(list, one)
	}
	return list, whole
}

// dimension returns the value of a metric's dimension. known is false if it may
// have one that is not seen here.
func (m metric) dimension(name string) (v value, known bool) {
	items, whole := m.dimensions.items()
	for _, item := range items {
		if item.get("Name").text == name {
			return item.get("Value"), true
		}
	}
	return value{}, whole
}

// watch is an alarm on a metric of a queue.
type watch struct {
	alarm  *resource
	metric metric
}

// watches returns the alarms on metrics of a queue. whole is false if there may
// be others: an alarm whose queue is not known, or a nested stack that is told of
// the queue.
func (m *model) watches(q *resource) (list []watch, whole bool) {
	whole = true
	for _, alarm := range m.possible(typeAlarm) {
		all, known := metrics(alarm)
		whole = whole && known
		for _, one := range all {
			if strings.HasPrefix(one.namespace, "AWS/") && one.namespace != "AWS/SQS" {
				continue
			}
			name, known := one.dimension("QueueName")
			if name.absent() {
				whole = whole && known
				continue
			}
			target, known := m.queueOf(name)
			switch {
			case target == q:
				list = append(list, watch{alarm, one})
			case !known:
				whole = false
			}
		}
	}
	for _, nested := range m.possible(typeStack, typeApplication) {
		if mentions(nested.body, q.id) {
			whole = false
		}
	}
	return list, whole
}

// mentions reports whether an id stands anywhere below a node.
func mentions(n *yaml.Node, id string) bool {
	if n == nil {
		return false
	}
	if n.Kind == yaml.ScalarNode && (n.Value == id || strings.HasPrefix(n.Value, id+".") ||
		strings.Contains(n.Value, "${"+id+"}") || strings.Contains(n.Value, "${"+id+".")) {
		return true
	}
	for _, child := range n.Content {
		if mentions(child, id) {
			return true
		}
	}
	return false
}

// concerns reports whether an alarm is about a queue of the template with a
// consumer, a dead-letter queue, or a function that a queue invokes.
func (m *model) concerns(alarm *resource) bool {
	all, _ := metrics(alarm)
	for _, one := range all {
		if name, _ := one.dimension("QueueName"); !name.absent() {
			if q, _ := m.queueOf(name); q != nil && (len(m.consumersOf(q)) > 0 || len(m.sources(q)) > 0) {
				return true
			}
		}
		if name, _ := one.dimension("FunctionName"); !name.absent() {
			if f, _ := m.functionOf(name); f != nil && m.isServed(f) {
				return true
			}
		}
	}
	return false
}

func (m *model) isServed(f *resource) bool {
	return slices.Contains(m.served(), f)
}
