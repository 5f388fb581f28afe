package local

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// journal turns what the parts of the stack tell into one stream of events.
type journal struct {
	sequence    sequence
	books       *books
	deadLetters map[string]bool // names of dead-letter queues
}

func (j *journal) write(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	if !j.deadLetters[e.Queue] {
		j.books.enter(e)
	}
	j.sequence.add(e)
}

// queue takes what happens in the queues.
func (j *journal) queue(in sqs.Event) {
	e := Event{Time: in.Time, Queue: in.Queue, MessageID: in.MessageID, ReceiveCount: in.ReceiveCount}
	switch in.Kind {
	case sqs.Sent:
		j.sent(e, in)
		return
	case sqs.VisibilityChanged:
		e.Kind, e.DelaySeconds = KindVisibility, seconds(in.Timeout)
	case sqs.Deleted:
		e.Kind = KindDeleted
	case sqs.Redriven:
		e.Kind, e.Reason = KindDead, ReasonRedrive
		e.DeadLetterQueue, e.DeadLetterID = in.To, in.MessageID
	default:
		return
	}
	j.write(e)
}

// sent tells a new job from a dead letter, which carries the record of one.
func (j *journal) sent(e Event, in sqs.Event) {
	record, ok := recordOf(in)
	if !ok || !j.deadLetters[in.Queue] {
		e.Kind = KindSent
		if in.Timeout > 0 {
			e.DelaySeconds = seconds(in.Timeout)
		}
		j.write(e)
		return
	}
	j.write(Event{
		Kind: KindDead, Time: in.Time,
		Queue:     record.Source[strings.LastIndexByte(record.Source, ':')+1:],
		MessageID: cmp.Or(record.DeliveredID, record.MessageID),
		Class:     record.Class, Reason: record.Reason, Rule: record.Rule,
		Attempt: record.Attempts, Key: record.Key,
		DeadLetterQueue: in.Queue, DeadLetterID: in.MessageID,
	})
}

func recordOf(in sqs.Event) (dlq.Record, bool) {
	text := in.MessageAttributes[dlq.AttributeName].StringValue
	if text == nil {
		return dlq.Record{}, false
	}
	record, err := dlq.Decode(*text)
	return record, err == nil
}

// batch takes what happens to the batches of a function.
func (j *journal) batch(function string, in eventsource.Event) {
	queue := in.QueueARN[strings.LastIndexByte(in.QueueARN, ':')+1:]
	e := Event{Kind: KindFailed, Time: in.Time, Queue: queue, Function: function, Error: in.Reason}
	switch in.Kind {
	case eventsource.Invoked:
		for _, m := range in.Messages {
			j.write(Event{
				Kind: KindInvoked, Time: in.Time, Queue: queue, Function: function,
				MessageID: m.ID, ReceiveCount: m.ReceiveCount,
			})
		}
		return
	case eventsource.Failed, eventsource.DeleteFailed, eventsource.ReceiveFailed:
		e = failure(e, in.Err)
	case eventsource.Malformed, eventsource.Unnamed:
	default:
		return
	}
	for _, m := range in.Messages {
		e.MessageIDs = append(e.MessageIDs, m.ID)
	}
	j.write(e)
}

// process takes what happens to the processes of a function.
func (j *journal) process(in runtimeapi.Event) {
	if in.Kind == runtimeapi.Started {
		j.write(Event{Kind: KindStarted, Time: in.Time, Function: in.Function, PID: in.PID})
	}
}

// output takes a line of a function. Its outcome lines become events, so that
// what is shown here and what is logged in the cloud are one.
func (j *journal) output(function, line string) {
	var fields struct {
		Event
		Message string `json:"msg"`
	}
	if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &fields) == nil {
		switch fields.Message {
		case handler.LogOutcome:
			fields.Event.Kind, fields.Event.Function = KindOutcome, function
			j.write(fields.Event)
			return
		case handler.LogDeadLettered:
			return // the dead letter's arrival in its queue has told
		}
	}
	j.write(Event{Kind: KindOutput, Function: function, Line: line})
}

// failure describes the error of an invocation.
func failure(e Event, err error) Event {
	e.Error = err.Error()
	f, ok := errors.AsType[*runtimeapi.FunctionError](err)
	if !ok {
		return e
	}
	e.Reason, e.Error, e.RequestID = f.Type, f.Message, f.RequestID
	if f.Exited || f.Type == runtimeapi.TypeTimeout {
		e.Kind = KindCrash
	}
	return e
}
