package local

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/internal/eventsource"
	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
	"github.com/sqsafe/sqsafe/internal/runtimeapi"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// journal turns what the parts of the stack tell into one stream of events.
type journal struct {
	reorder    reorderBuffer
	tally      *tally
	present    present
	visibility visibility
	// deadLetters has, by its name, the names of the queues that each
	// dead-letter queue serves. Those of them that a function reads are in letters:
	// what they hold is work.
	deadLetters map[string][]string
	letters     map[string]bool
	// foreign: the queues are another engine's, and tell nothing.
	foreign bool
	// bare has the ids of dead letters that came without a record.
	bare sync.Map
	// reporting has the functions that report their outcomes, by name.
	reporting sync.Map
	// broken gets the error of a function that has never started.
	broken  chan error
	started sync.Map // functions that have taken an event, by name
}

func newJournal(s *stack.Stack, o Options) *journal {
	j := &journal{
		reorder:     reorderBuffer{emit: o.Observe, emitted: o.Observed},
		tally:       newTally(),
		deadLetters: map[string][]string{},
		letters:     map[string]bool{},
		foreign:     o.EndpointSQS != "",
		broken:      make(chan error, 1),
	}
	j.tally.foreign, j.tally.redrive, j.tally.unreported = j.foreign, map[string]bool{}, map[string]string{}
	if o.Observe == nil {
		j.reorder.emit = func(Event) {}
	}
	for _, q := range s.Queues {
		if target, ok := s.Queue(q.DeadLetterQueue); ok {
			j.deadLetters[target.Name] = append(j.deadLetters[target.Name], q.Name)
			j.tally.redrive[q.Name] = true
		}
	}
	for _, f := range s.Functions {
		for _, e := range f.Events {
			if queue, ok := s.Queue(e.Queue); ok {
				j.tally.unreported[queue.Name] = unreported(f, e)
				j.letters[queue.Name] = e.Enabled && j.deadLetters[queue.Name] != nil
			}
		}
	}
	j.tally.letters = j.letters
	return j
}

func (j *journal) write(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	if e.Kind != KindOutput && !j.resting(e.Queue) {
		j.tally.record(e)
	}
	j.reorder.add(e)
}

// resting reports whether the queue is a dead-letter queue in which letters wait for
// people: no function reads it.
func (j *journal) resting(queue string) bool { return j.deadLetters[queue] != nil && !j.letters[queue] }

// queue takes what happens in the queues.
func (j *journal) queue(in sqs.Event) {
	j.present.record(in)
	j.visibility.record(in)
	e := Event{Time: in.Time, Queue: in.Queue, MessageID: in.MessageID, ReceiveCount: in.ReceiveCount}
	switch in.Kind {
	case sqs.Sent:
		j.sent(e, in)
		return
	case sqs.Received:
		j.tally.received(in.MessageID, in.ReceiveCount)
		return
	case sqs.VisibilityChanged:
		e.Kind, e.DelaySeconds = KindVisibility, seconds(in.Timeout)
	case sqs.Deleted:
		e.Kind = KindDeleted
	case sqs.Redriven:
		e.Kind, e.Reason = KindDead, ReasonRedrive
		e.DeadLetterQueue, e.DeadLetterID = in.To, in.MessageID
		j.write(e)
		j.tally.letter(in.To, in.MessageID)
		return
	default:
		return
	}
	j.write(e)
}

// sent tells a new job from a dead letter, which carries the record of one.
func (j *journal) sent(e Event, in sqs.Event) {
	_, dead := j.deadLetters[in.Queue]
	record, ok := recordOf(in)
	if !ok || !dead {
		e.Kind = KindSent
		if dead {
			j.bare.Store(in.MessageID, true)
		}
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
		Attempt: record.Runs(), Key: record.Key,
		DeadLetterQueue: in.Queue, DeadLetterID: in.MessageID,
	})
	j.tally.letter(in.Queue, in.MessageID)
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
		j.each(KindInvoked, in, e)
		return
	case eventsource.Filtered:
		e.Reason, e.Error = in.Reason, ""
		j.each(KindFiltered, in, e)
		return
	case eventsource.Reported:
		if _, reports := j.reporting.Load(function); !reports {
			j.each(KindNamed, in, e)
			j.returning(e, in.Messages)
		}
		return
	case eventsource.Ignored:
		e.Error = j.tally.unreported[queue]
		j.each(KindIgnored, in, e)
		return
	case eventsource.Deleted:
		if j.foreign {
			e.Function = ""
			j.each(KindDeleted, in, e)
		}
		return
	case eventsource.Failed, eventsource.DeleteFailed, eventsource.ReceiveFailed:
		e = failure(e, in.Err)
	case eventsource.Malformed, eventsource.Unnamed:
	default:
		return
	}
	j.stopped(e, in.Messages)
}

// stopped writes an invocation's end, and what comes back after it.
func (j *journal) stopped(e Event, messages []eventsource.Message) {
	for _, m := range messages {
		e.MessageIDs = append(e.MessageIDs, m.ID)
	}
	if !j.foreign && len(messages) > 0 {
		left := j.present.count(e.Queue, e.MessageIDs)
		e.Left = &left
	}
	j.write(e)
	j.returning(e, messages)
}

// returning says when messages come back only because the visibility timeout of the
// queue ends.
func (j *journal) returning(e Event, messages []eventsource.Message) {
	for _, m := range messages {
		if wait := j.visibility.remaining(e.Queue, m.ID, e.Time); wait > 0 {
			j.write(Event{
				Kind: KindVisibility, Time: e.Time, Queue: e.Queue, MessageID: m.ID,
				ReceiveCount: m.ReceiveCount, DelaySeconds: seconds(wait),
			})
		}
	}
}

// each writes an event for each message of a batch.
func (j *journal) each(kind Kind, in eventsource.Event, e Event) {
	e.Kind = kind
	for _, m := range in.Messages {
		e.MessageID, e.ReceiveCount = m.ID, m.ReceiveCount
		j.write(e)
	}
}

// process takes what happens to the processes of a function.
func (j *journal) process(function string, in runtimeapi.Event) {
	switch in.Kind {
	case runtimeapi.Started:
		j.write(Event{Kind: KindStarted, Time: in.Time, Function: function, PID: in.PID})
	case runtimeapi.Invoked:
		j.started.Store(function, true)
	case runtimeapi.Failed:
		if _, started := j.started.Load(function); in.Err.Starting && in.Err.Signal == "" && !started {
			j.giveUp(function, in.Err)
		}
	}
}

// giveUp ends the run: a function that has never started will not, and its jobs
// would wait for the queue's visibility timeout again and again.
func (j *journal) giveUp(function string, err *runtimeapi.FunctionError) {
	why := cause(err)
	if err.Type == runtimeapi.TypeExit {
		why += "; its output says why"
	}
	select {
	case j.broken <- fmt.Errorf("function %s does not start: %s", function, why):
	default:
	}
}

// failure describes the error of an invocation.
func failure(e Event, err error) Event {
	e.Error = err.Error()
	if _, loop := errors.AsType[*eventsource.RecursionError](err); loop {
		e.Reason = "RecursiveInvocationException"
		e.Error = strings.TrimPrefix(e.Error, e.Reason+": ")
	}
	f, ok := errors.AsType[*runtimeapi.FunctionError](err)
	if !ok {
		return e
	}
	e.Reason, e.Error, e.RequestID = f.Type, cause(f), f.RequestID
	if f.Exited || f.Type == runtimeapi.TypeTimeout {
		e.Kind = KindCrash
	}
	return e
}

// cause is the error of an invocation without its request id and, where the
// process has ended, in plain words.
func cause(f *runtimeapi.FunctionError) string {
	text := f.Message
	if _, rest, ok := strings.Cut(text, " Error: "); ok && strings.HasPrefix(text, "RequestId: ") {
		text = rest
	}
	if f.Type != runtimeapi.TypeExit {
		return text
	}
	if how, ok := strings.CutPrefix(text, "Runtime exited with error: "); ok {
		if signal, killed := strings.CutPrefix(how, "signal: "); killed {
			return "process ended by signal: " + signal
		}
		return "process ended with " + how
	}
	return strings.Replace(text, "Runtime exited", "process ended", 1)
}
