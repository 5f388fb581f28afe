package handlertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/handler"
)

// RunReport is what became of the messages of [Queue.Run] or [Queue.Invoke]. It is
// not handler.Report, which has the numbers of one batch.
type RunReport struct {
	// Jobs are the messages by their ids, in the order in which they were given.
	Jobs []*JobReport
	// Deliveries are those of all jobs, in the order in which they were received.
	Deliveries []*Delivery
	// RunOrder holds the id of a message for each time that the handler was
	// called with it.
	RunOrder []string
	// DeadLetters are those that have arrived.
	DeadLetters []handler.Letter
}

// JobReport is what became of one message. It is not handler.Job, which is what the
// ledger knows of a job.
type JobReport struct {
	// ID is the message id.
	ID string
	// Deliveries are in the order in which they were received.
	Deliveries []*Delivery
	// Letter is the dead letter; nil if none has arrived.
	Letter *handler.Letter
	// Redriven tells that SQS moved the message to the dead-letter queue at the
	// end of its receives, without a record.
	Redriven bool
	// Expired tells that the queue lost the message at the end of its retention.
	Expired bool

	// receives is the receive count of the message in all of its copies.
	receives int
}

// Delivery is one receive of a message.
type Delivery struct {
	// Receive is the receive count, from 1.
	Receive int
	// At is when it was received, since the begin, and Took how long it then was
	// until its outcome; 0 if its process was killed before.
	At, Took time.Duration
	// Ran tells whether the handler was called.
	Ran bool
	// Outcome is handler.OutcomeNone if the process was killed before there was one.
	Outcome handler.Outcome
	// Class, Reason and Error say why; empty where there is nothing to say.
	Class, Reason, Error string
	// Delay is how long the message stays hidden from then on: as was asked for, or
	// else for the visibility timeout. 0 means that it was deleted.
	Delay time.Duration
	// Late reports whether the visibility timeout ended while the function was still
	// at work. SQS hands the message out again then, so that its acknowledgement and
	// the delay that was asked for have no effect.
	Late bool

	job *JobReport
}

// Job finds the job with that message id; nil if there is none.
func (r *RunReport) Job(id string) *JobReport {
	for _, j := range r.Jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

// Runs is how often the handler was called with the message.
func (j *JobReport) Runs() int {
	runs := 0
	for _, d := range j.Deliveries {
		if d.Ran {
			runs++
		}
	}
	return runs
}

// Outcomes are those of the deliveries, in their order.
func (j *JobReport) Outcomes() []handler.Outcome {
	outcomes := make([]handler.Outcome, len(j.Deliveries))
	for i, d := range j.Deliveries {
		outcomes[i] = d.Outcome
	}
	return outcomes
}

// String tells the story, with a line for each delivery, and for each message
// that was lost or that SQS has moved.
func (r *RunReport) String() string {
	var b strings.Builder
	for _, d := range r.Deliveries {
		fmt.Fprintf(&b, "%s %s\n", d.job.ID, d)
	}
	for _, j := range r.Jobs {
		if j.Redriven {
			fmt.Fprintf(&b, "%s was moved to the dead-letter queue by SQS, without a record\n", j.ID)
		}
		if j.Expired {
			fmt.Fprintf(&b, "%s was lost at the end of its retention\n", j.ID)
		}
	}
	return b.String()
}

// String tells of the delivery in a line.
func (d *Delivery) String() string {
	s := fmt.Sprintf("at %v, receive %d: ", d.At, d.Receive)
	if d.Outcome == handler.OutcomeNone {
		return s + "killed"
	}
	s += d.Outcome.String()
	if d.Reason != "" {
		s += " (" + d.Reason + ")"
	}
	switch {
	case d.Late:
		s += fmt.Sprintf(", too late: its visibility timeout of %v had ended", d.Delay)
	case d.Delay > 0:
		s += fmt.Sprintf(", back in %v", d.Delay)
	}
	if d.Error != "" {
		s += ": " + d.Error
	}
	return s
}
