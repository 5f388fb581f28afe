package stack

import "time"

// Stack is the part of a template that runs locally, in the template's order.
type Stack struct {
	// Functions are those with at least one SQS event.
	Functions []Function
	Queues    []Queue
	Tables    []Table
	// Notes tell what of the template was left alone, one line each.
	Notes []string
}

// Queue is an AWS::SQS::Queue.
type Queue struct {
	LogicalID string
	// Name is the QueueName, or else the logical id; it ends in .fifo for FIFO queues.
	Name string
	ARN  string
	URL  string
	FIFO bool
	// Attributes are those that CreateQueue takes, without the ones that choose
	// an encryption key. The policies are JSON.
	Attributes map[string]string
	// DeadLetterQueue is the logical id of the redrive target; empty for none.
	DeadLetterQueue string
	// MaxReceiveCount is how often a message is received before SQS moves it;
	// 0 without a redrive policy.
	MaxReceiveCount int
}

// Table is an AWS::DynamoDB::Table or an AWS::Serverless::SimpleTable.
type Table struct {
	LogicalID string
	// Name is the TableName, or else the logical id.
	Name       string
	ARN        string
	Keys       []Key
	Attributes []Attribute
	// TTLAttribute names the attribute with the expiry time; empty for none.
	TTLAttribute string
}

// Key is one element of a table's key schema.
type Key struct {
	Name string
	// Type is HASH or RANGE.
	Type string
}

// Attribute is one attribute definition of a table.
type Attribute struct {
	Name string
	// Type is S, N or B.
	Type string
}

// Function is an AWS::Serverless::Function on an operating system runtime.
type Function struct {
	LogicalID string
	// Name is the FunctionName, or else the logical id.
	Name string
	ARN  string
	// CodeURI is the folder of the function's main package, as an absolute path.
	CodeURI string
	Handler string
	Runtime string
	// BuildMethod is that of the function's Metadata: go1.x, makefile, or empty.
	// With makefile, CodeURI has a Makefile with the target build-LOGICALID.
	BuildMethod string
	// Timeout is from 1 s to 15 min; 3 s where the template gives none, as in Lambda.
	Timeout time.Duration
	// MemoryMB is from 128 to 10,240; 128 where the template gives none, as in Lambda.
	MemoryMB    int
	Environment map[string]string
	Events      []SQSEvent
}

// SQSEvent is what Lambda calls an event source mapping: an event of type SQS,
// or an AWS::Lambda::EventSourceMapping.
type SQSEvent struct {
	// Name is the event's, or the mapping's logical id.
	Name string
	// Queue is the source queue's logical id.
	Queue string
	// BatchSize is from 1 to 10,000, on FIFO queues to 10; 10 where the template
	// gives none, as in Lambda.
	BatchSize int
	// Window is how long a batch is gathered, from 0 to 5 min; 0 hands over what
	// one receive brought.
	Window time.Duration
	// ReportBatchItemFailures tells whether the function's answer names the
	// messages that failed.
	ReportBatchItemFailures bool
	// MaximumConcurrency is from 2 to 1,000; 0 sets no limit.
	MaximumConcurrency int
	// Filters are the patterns of the filter criteria, none or up to five.
	Filters []string
	// Enabled is false for an event that the template switches off.
	Enabled bool
}

// Queue finds a queue by its logical id or, failing that, by its name.
func (s *Stack) Queue(nameOrLogicalID string) (Queue, bool) {
	for _, q := range s.Queues {
		if q.LogicalID == nameOrLogicalID {
			return q, true
		}
	}
	for _, q := range s.Queues {
		if q.Name == nameOrLogicalID {
			return q, true
		}
	}
	return Queue{}, false
}
