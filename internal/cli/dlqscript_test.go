package cli_test

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// stack returns the source queue of that name, with its dead-letter queue, ledger and
// function.
func (e *scriptEngine) stack(source string) *letterstest.Stack {
	s := e.stacks[source]
	if s == nil {
		s = letterstest.On(e.t, e.server, localtest.Config(e.server), source)
		e.stacks[source] = s
	}
	return s
}

// buryJob sends a job that dies: QUEUE BODY [GROUP].
func buryJob(ts *testscript.TestScript, _ bool, args []string) {
	group := ""
	if len(args) > 2 {
		group = args[2]
	}
	ts.Value(engineKey{}).(*scriptEngine).stack(args[0]).Bury(args[1], group)
}

// moveJob sends a job that SQS moves: QUEUE BODY.
func moveJob(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(engineKey{}).(*scriptEngine).stack(args[0])
	s.Send(s.SourceURL, args[1], "", nil)
	s.MoveBySQS()
}

// work lets the function run all jobs of its queue: QUEUE [mended].
func work(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(engineKey{}).(*scriptEngine).stack(args[0])
	s.Mended = len(args) > 1
	s.Work()
}

// checkTotal compares the number of messages in a queue: QUEUE N.
func checkTotal(ts *testscript.TestScript, _ bool, args []string) {
	e := ts.Value(engineKey{}).(*scriptEngine)
	out, err := e.client.GetQueueAttributes(context.Background(), &sqs.GetQueueAttributesInput{
		QueueUrl:       aws.String(ts.Getenv("SQS") + "/000000000000/" + args[0]),
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	ts.Check(err)
	visible, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
	hidden := out.Attributes["ApproximateNumberOfMessagesNotVisible"]
	if hidden != "0" || strconv.Itoa(visible) != args[1] {
		ts.Fatalf("%d visible and %s hidden in %s, want %s", visible, hidden, args[0], args[1])
	}
}

// sendForeign sends a letter as EventBridge does: QUEUE BODY ERRORCODE. Without a code it
// has no attributes.
func sendForeign(ts *testscript.TestScript, _ bool, args []string) {
	e := ts.Value(engineKey{}).(*scriptEngine)
	text := func(value string) types.MessageAttributeValue {
		return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
	}
	in := &sqs.SendMessageInput{
		QueueUrl: aws.String(ts.Getenv("SQS") + "/000000000000/" + args[0]), MessageBody: &args[1],
	}
	if args[2] != "" {
		in.MessageAttributes = map[string]types.MessageAttributeValue{
			"RULE_ARN": text("arn:aws:events:us-east-1:1:rule/r"), "ERROR_CODE": text(args[2]),
			"ERROR_MESSAGE": text("not delivered"),
		}
	}
	_, err := e.client.SendMessage(context.Background(), in)
	ts.Check(err)
}
