package local

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// Queue is a queue to make without a template.
type Queue struct {
	Name string
	// DeadLetterQueue is the name of the queue to which SQS moves a message that was
	// received MaxReceives times; empty for none. It is made as well.
	DeadLetterQueue string
	MaxReceives     int
	// Attributes are those of CreateQueue, without the redrive policy.
	Attributes map[string]string
}

// defaultReceives is MaxReceives where the text of a queue has none.
const defaultReceives = 5

// ParseQueue reads NAME[,dlq=NAME][,max=N][,ATTRIBUTE=VALUE]..., where ATTRIBUTE is one of
// CreateQueue. A name that ends in .fifo is that of a FIFO queue.
func ParseQueue(text string) (Queue, error) {
	name, rest, more := strings.Cut(text, ",")
	q := Queue{Name: name, Attributes: map[string]string{}}
	if name == "" {
		return q, fmt.Errorf("queue %q: give NAME, or NAME,dlq=NAME,max=N", text)
	}
	if isFIFO(name) {
		q.Attributes["FifoQueue"] = "true"
	}
	for more {
		var part string
		part, rest, more = strings.Cut(rest, ",")
		key, value, _ := strings.Cut(part, "=")
		switch {
		case key == "" || value == "":
			return q, fmt.Errorf("queue %q: %q is not NAME=VALUE, such as dlq=%s-dlq or VisibilityTimeout=60", text, part, name)
		case key == "dlq":
			q.DeadLetterQueue = value
		case key == "max":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 1000 {
				return q, fmt.Errorf("queue %q: max is %q; SQS takes 1 to 1000 receives", text, value)
			}
			q.MaxReceives = n
		default:
			q.Attributes[key] = value
		}
	}
	switch {
	case q.DeadLetterQueue == "" && q.MaxReceives > 0:
		return q, fmt.Errorf("queue %q: max needs a dead-letter queue; add dlq=NAME", text)
	case q.DeadLetterQueue != "" && isFIFO(q.DeadLetterQueue) != isFIFO(name):
		return q, fmt.Errorf("queue %q: queue and dead-letter queue must both end in .fifo, or neither", text)
	case q.DeadLetterQueue == name:
		return q, fmt.Errorf("queue %q: it cannot be its own dead-letter queue", text)
	case q.DeadLetterQueue != "" && q.MaxReceives == 0:
		q.MaxReceives = defaultReceives
	}
	return q, nil
}

func isFIFO(name string) bool { return strings.HasSuffix(name, ".fifo") }

// Table is a table to make without a template.
type Table struct {
	Name string
	// Keys are the partition key and, if there are two, the sort key.
	Keys []TableKey
	// TTLAttribute is the attribute with the expiry time; empty for none.
	TTLAttribute string
}

// TableKey is an attribute of a table's key; Type is S, N or B.
type TableKey struct{ Name, Type string }

// ParseTable reads NAME:KEY[=TYPE][:KEY[=TYPE]][,ttl=ATTRIBUTE]. A key without a type is a
// string.
func ParseTable(text string) (Table, error) {
	const want = "NAME:KEY, NAME:KEY:SORTKEY or NAME:KEY=N,ttl=ATTRIBUTE; types of keys are S, N and B"
	schema, rest, more := strings.Cut(text, ",")
	part := strings.Split(schema, ":")
	t := Table{Name: part[0]}
	if t.Name == "" || len(part) < 2 || len(part) > 3 {
		return t, fmt.Errorf("table %q: give %s", text, want)
	}
	for _, key := range part[1:] {
		name, kind, typed := strings.Cut(key, "=")
		if !typed {
			kind = "S"
		}
		if name == "" || kind != "S" && kind != "N" && kind != "B" {
			return t, fmt.Errorf("table %q: %q is no key; give %s", text, key, want)
		}
		t.Keys = append(t.Keys, TableKey{name, kind})
	}
	if more {
		attribute, ok := strings.CutPrefix(rest, "ttl=")
		if !ok || attribute == "" {
			return t, fmt.Errorf("table %q: %q is not ttl=ATTRIBUTE", text, rest)
		}
		t.TTLAttribute = attribute
	}
	return t, nil
}

// alone is the stack of queues and tables that have no template.
func (s *Stack) alone(at site) (*stack.Stack, error) {
	all := &stack.Stack{}
	for _, q := range s.options.Queues {
		if _, twice := all.Queue(q.Name); twice {
			return nil, fmt.Errorf("queue %s is given twice; give it once", q.Name)
		}
		made := s.aloneQueue(q.Name, at)
		maps.Copy(made.Attributes, q.Attributes)
		if q.DeadLetterQueue != "" {
			made.DeadLetterQueue, made.MaxReceiveCount = q.DeadLetterQueue, q.MaxReceives
			policy, _ := json.Marshal(map[string]any{ // text and a number
				"deadLetterTargetArn": arn(at, q.DeadLetterQueue), "maxReceiveCount": q.MaxReceives,
			})
			made.Attributes["RedrivePolicy"] = string(policy)
		}
		all.Queues = append(all.Queues, made)
	}
	for _, q := range s.options.Queues {
		if _, there := all.Queue(q.DeadLetterQueue); q.DeadLetterQueue != "" && !there {
			all.Queues = append(all.Queues, s.aloneQueue(q.DeadLetterQueue, at))
		}
	}
	for _, t := range s.options.Tables {
		if slices.ContainsFunc(all.Tables, func(other stack.Table) bool { return other.Name == t.Name }) {
			return nil, fmt.Errorf("table %s is given twice; give it once", t.Name)
		}
		all.Tables = append(all.Tables, aloneTable(t))
	}
	return all, nil
}

func (s *Stack) aloneQueue(name string, at site) stack.Queue {
	q := stack.Queue{
		LogicalID: name, Name: name, ARN: arn(at, name), URL: s.queueURL(at, name), FIFO: isFIFO(name),
		Attributes: map[string]string{},
	}
	if q.FIFO {
		q.Attributes["FifoQueue"] = "true"
	}
	return q
}

func arn(at site, queue string) string {
	return "arn:aws:sqs:" + at.region + ":" + at.account + ":" + queue
}

func aloneTable(t Table) stack.Table {
	made := stack.Table{LogicalID: t.Name, Name: t.Name, TTLAttribute: t.TTLAttribute}
	for i, key := range t.Keys {
		made.Keys = append(made.Keys, stack.Key{Name: key.Name, Type: []string{"HASH", "RANGE"}[i]})
		made.Attributes = append(made.Attributes, stack.Attribute{Name: key.Name, Type: key.Type})
	}
	return made
}

// Functions returns how many functions the stack has.
func (s *Stack) Functions() int { return len(s.template.Functions) }

// DeadLetterQueues returns how many queues are the dead-letter queue of another.
func (s *Stack) DeadLetterQueues() int { return len(s.journal.deadLetters) }

// callers are the variables that lead the SDKs to the emulators, with access keys that
// belong to no account. Some SDKs read one name of the region, and some the other.
func (s *Stack) callers() map[string]string {
	all := s.endpoints()
	maps.Copy(all, map[string]string{
		"AWS_REGION": region, "AWS_DEFAULT_REGION": region,
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
	})
	return all
}

// ready is the event that says where everything is.
func (s *Stack) ready() Event {
	e := Event{Kind: KindReady, Queues: map[string]string{}, Environment: s.callers()}
	if s.server != nil {
		e.Address = reachable(s.listener)
	}
	for _, f := range s.template.Functions {
		e.Functions = append(e.Functions, f.LogicalID)
	}
	for _, q := range s.template.Queues {
		e.Queues[q.Name] = q.URL
	}
	for _, t := range s.template.Tables {
		e.Tables = append(e.Tables, t.Name)
	}
	return e
}
