package local

import "time"

// Kind is what an [Event] tells of. The words are part of the command's output.
type Kind string

// The kinds of events.
const (
	// KindNote is a remark about the template.
	KindNote Kind = "note"
	// KindBuilding: a function is being built.
	KindBuilding Kind = "building"
	// KindStarted: a process of Function was started, with PID.
	KindStarted Kind = "started"
	// KindReady: the stack takes jobs, at Address unless other engines do all.
	KindReady Kind = "ready"
	// KindSent: a message has entered a queue.
	KindSent Kind = "sent"
	// KindInvoked: a function was given the message.
	KindInvoked Kind = "invoked"
	// KindOutcome: the function has decided what becomes of the message.
	KindOutcome Kind = "outcome"
	// KindNamed: the function's answer names the message as failed, and it stays in
	// the queue. Functions that report their outcomes have no such events.
	KindNamed Kind = "named"
	// KindIgnored: the function's answer names the message as failed, and Lambda does
	// not look at it: the message is deleted.
	KindIgnored Kind = "ignored"
	// KindVisibility: the message comes back after DelaySeconds.
	KindVisibility Kind = "visibility"
	// KindDead: the message is in DeadLetterQueue.
	KindDead Kind = "dead"
	// KindFiltered: no filter of the function's event lets the message pass;
	// Lambda deletes it.
	KindFiltered Kind = "filtered"
	// KindDeleted: the message is gone from Queue.
	KindDeleted Kind = "deleted"
	// KindCrash: an invocation ended with its process, or ran out of time.
	KindCrash Kind = "crash"
	// KindFailed: an invocation ended in an error, an answer that breaks the
	// rules, or a call that failed; what it did not delete stays in the queue.
	KindFailed Kind = "failed"
	// KindOutput is a line that a function has written.
	KindOutput Kind = "output"
)

// ReasonRedrive is the reason of a dead letter that SQS itself has moved.
const ReasonRedrive = "redrive"

// Event is one thing that happened. Fields that do not apply are empty.
type Event struct {
	Kind         Kind      `json:"event"`
	Time         time.Time `json:"time"`
	Queue        string    `json:"queue,omitempty"`
	MessageID    string    `json:"messageId,omitempty"`
	Outcome      string    `json:"outcome,omitempty"`
	Class        string    `json:"class,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Rule         string    `json:"rule,omitempty"`
	Attempt      int       `json:"attempt,omitempty"`
	ReceiveCount int       `json:"receiveCount,omitempty"`
	// DelaySeconds is how long the message stays hidden; nil where nothing hides it.
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
	Key          string   `json:"key,omitempty"`
	// DeadLetterQueue and DeadLetterID say where a dead job is kept.
	DeadLetterQueue string `json:"deadLetterQueue,omitempty"`
	DeadLetterID    string `json:"deadLetterId,omitempty"`
	Function        string `json:"function,omitempty"`
	RequestID       string `json:"requestId,omitempty"`
	PID             int    `json:"pid,omitempty"`
	// MessageIDs are the messages of the invocation that a crash or failure ended.
	MessageIDs []string `json:"messageIds,omitempty"`
	// Left is how many of them are still in Queue; nil where that is not known.
	Left  *int   `json:"left,omitempty"`
	Error string `json:"error,omitempty"`
	// Stack says where a run has panicked.
	Stack string `json:"stack,omitempty"`
	// Line is a line of output, or the text of a note.
	Line string `json:"line,omitempty"`
	// Address is where SQS and DynamoDB answer.
	Address string `json:"address,omitempty"`
	// Functions, Queues (URLs by name) and Tables are those of the stack, and Environment
	// leads the SDKs of other programs to them.
	Functions   []string          `json:"functions,omitempty"`
	Queues      map[string]string `json:"queues,omitempty"`
	Tables      []string          `json:"tables,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
}

func seconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}
