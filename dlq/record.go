package dlq

// AttributeName is the name of the message attribute that holds a [Record].
const AttributeName = "sqsafe"

// Version is the version of the records that this package writes.
const Version = 1

// Record is the failure record of a dead-lettered message. [Record.Encode]
// and [Decode] give and take its JSON.
type Record struct {
	// Version is the version of the format, from 1.
	Version int `json:"version"`
	// Class, Reason and Rule are the decision that ended the job.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Message is the error's text.
	Message string `json:"message,omitempty"`
	// Types are the error's types, outermost first.
	Types []string `json:"types,omitempty"`
	// Fingerprint is equal for failures of one kind.
	Fingerprint string `json:"fingerprint,omitempty"`

	// Key is the idempotency key; empty when the job died before it had one.
	Key string `json:"key,omitempty"`
	// Epoch is the epoch of the job that died.
	Epoch int `json:"epoch"`
	// Verdict tells whether the ledger holds the death; without it Epoch means nothing.
	Verdict bool `json:"verdict"`

	// Attempts counts the failures that cost budget.
	Attempts int `json:"attempts"`
	// First and Last are when the job first failed and when it failed for good.
	First Time `json:"firstFailure,omitzero"`
	Last  Time `json:"lastFailure,omitzero"`

	// Sent is when the delivered message entered its queue.
	Sent Time `json:"sent,omitzero"`
	// MessageID is the id that the message had when it was first sent. A replay
	// gets a new one from SQS; this one stays.
	MessageID string `json:"messageId"`
	// DeliveredID is the id that the message had when its job died; empty where
	// it is MessageID.
	DeliveredID string `json:"deliveredMessageId,omitempty"`
	// Source is the ARN of the queue that the message came from.
	Source string `json:"sourceQueueArn,omitempty"`
	// Group, DeduplicationID and SequenceNumber are what SQS said of the message.
	Group           string `json:"group,omitempty"`
	DeduplicationID string `json:"deduplicationId,omitempty"`
	SequenceNumber  string `json:"sequenceNumber,omitempty"`

	// Function and FunctionVersion name the Lambda function.
	Function        string `json:"function,omitempty"`
	FunctionVersion string `json:"functionVersion,omitempty"`
	// RequestID is that of the invocation in which the job died.
	RequestID string `json:"requestId,omitempty"`

	// History tells of the failed runs in order, without those of the middle
	// that Dropped counts.
	History []Attempt `json:"history,omitempty"`
	Dropped int       `json:"dropped,omitempty"`
	// Stack is where the error came up.
	Stack string `json:"stack,omitempty"`
	// Cut tells that Stack, History, Message or Types were shortened to fit.
	Cut bool `json:"cut,omitempty"`

	// Displaced are attributes of the message that had to give way, by name.
	Displaced map[string]Attribute `json:"displaced,omitempty"`
}

// Attempt is one failed run.
type Attempt struct {
	// Number counts the job's failed runs from 1, those before a death included.
	Number int `json:"n"`
	// Start and End are when the run began and failed.
	Start Time `json:"start,omitzero"`
	End   Time `json:"end,omitzero"`
	// Class, Reason and Rule are the decision on its error.
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
	// Message is the error's text.
	Message string `json:"message,omitempty"`
	// DelaySeconds is the wait chosen after it, in seconds; 0 for the last run.
	DelaySeconds float64 `json:"delaySeconds,omitempty"`
	// RequestID is the invocation's.
	RequestID string `json:"requestId,omitempty"`
}
