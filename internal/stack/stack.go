package stack

import "time"

// Stack is the part of a template that runs locally, in the order of the
// template.
type Stack struct {
	// Functions are the functions with at least one SQS event.
	Functions []Function
	Queues    []Queue
	Tables    []Table
	// Notes say which parts of the template were skipped, one line each.
	Notes []string
}

// Queue is an AWS::SQS::Queue.
type Queue struct {
	LogicalID string
	// Name is the QueueName, or else the logical id. The name of a FIFO queue
	// ends in .fifo.
	Name string
	ARN  string
	URL  string
	FIFO bool
	// Attributes are attributes for CreateQueue, without those that choose an
	// encryption key. The policies are JSON.
	Attributes map[string]string
	// Visibility is the visibility timeout, 0 s to 12 h; 30 s if the template sets
	// none, as in SQS.
	Visibility time.Duration
	// DeadLetterQueue is the logical id of the redrive target; empty if there
	// is none.
	DeadLetterQueue string
	// MaxReceiveCount is how often a message is received before SQS moves it to
	// the dead-letter queue; 0 without a redrive policy.
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
	// TTLAttribute is the attribute with the expiry time; empty if there is
	// none.
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

// Function is an AWS::Serverless::Function with an OS-only runtime.
type Function struct {
	LogicalID string
	// Name is the FunctionName, or else the logical id.
	Name string
	ARN  string
	// CodeURI is the folder of the function's main package, as an absolute path.
	CodeURI string
	Handler string
	Runtime string
	// BuildMethod is the one in the function's Metadata: go1.x, makefile, or
	// empty. With makefile, CodeURI has a Makefile with the target
	// build-LOGICALID.
	BuildMethod string
	// Timeout is from 1 s to 15 min; 3 s if the template sets none, as in
	// Lambda.
	Timeout time.Duration
	// MemoryMB is from 128 to 10,240; 128 if the template sets none, as in
	// Lambda.
	MemoryMB    int
	Environment map[string]string
	// AllowsLoops says that Lambda does not stop loops of messages through the
	// function.
	AllowsLoops bool `json:",omitempty"`
	Events      []SQSEvent
}

// SQSEvent is an event source mapping: an event of type SQS, or an
// AWS::Lambda::EventSourceMapping.
type SQSEvent struct {
	// Name is the name of the event, or the logical id of the mapping.
	Name string
	// Queue is the logical id of the source queue.
	Queue string
	// BatchSize is from 1 to 10,000, for FIFO queues to 10; 10 if the template
	// sets none, as in Lambda.
	BatchSize int
	// Window is the batching window, from 0 to 5 min; 0 means that a batch is
	// the result of one receive.
	Window time.Duration
	// ReportBatchItemFailures says that the function's response names the
	// messages that failed.
	ReportBatchItemFailures bool
	// MaximumConcurrency is from 2 to 1,000; 0 means no limit.
	MaximumConcurrency int
	// Filters are the patterns of the filter criteria, at most five.
	Filters []string
	// Enabled is false for an event that the template disables.
	Enabled bool
}

// Queue returns the queue with this logical id or, if there is none, with this
// name.
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
