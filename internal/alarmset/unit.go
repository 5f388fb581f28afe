package alarmset

import "strings"

// Unit is a consumer with its queues, as a template names them. A value of the
// kind "text" is CloudFormation as it is written in YAML: !Ref ChargeFunction.
type Unit struct {
	// Prefix begins the logical ids of the unit: Charge of ChargeQueueAgeAlarm.
	Prefix string
	// Function is the logical id of the Lambda function; empty for a worker.
	Function string
	// Mapping is the logical id of the event source mapping; empty for a worker.
	Mapping string
	// Source and Dead are the logical ids of the queue and its dead-letter queue.
	Source, Dead string
	// LogGroup is the name of the log group as Fn::Sub takes it; empty for a worker.
	LogGroup string
	// Namespace is the text of the namespace of sqsafe's own metrics.
	Namespace string
	// Timeout is the function's timeout in seconds as Fn::Sub takes it.
	Timeout string
	// Alias is the alias that the mapping invokes; empty without one.
	Alias string
	// Metrics is the text of the dimension FunctionName of a worker's metrics.
	Metrics string
}

// Subject is what descriptions call the consumer.
func (u Unit) Subject() string {
	name := strings.ToLower(u.Prefix)
	if u.Function == "" {
		return "the " + name + " worker"
	}
	return "the " + name + " function"
}

// function is the text of the function's name.
func (u Unit) function() string { return "!Ref " + u.Function }

// own is the text of the dimension of sqsafe's own metrics.
func (u Unit) own() string {
	if u.Function == "" {
		return u.Metrics
	}
	return u.function()
}

func queueName(id string) string { return "!GetAtt " + id + ".QueueName" }

// Source of the names in the other values of a dimension.
const (
	sqs    = "AWS/SQS"
	lambda = "AWS/Lambda"
)
