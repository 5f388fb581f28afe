package producer

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// Sent is what became of a job that was to be sent.
type Sent struct {
	// MessageID confirms that the message is in the queue; empty if it may not be.
	MessageID string
	// SequenceNumber is the sequence number in a FIFO queue; empty in a standard queue.
	SequenceNumber string
	// Err says why the job was not sent; nil if it has arrived. A *queue.EntryError is the
	// answer of SQS for this job, an error that wraps [ErrNotTried] says that it was not
	// tried, and an error of [Options].ClaimCheck is wrapped. After any other error, one of
	// a call, the message may be in the queue all the same; a job with a key can be sent
	// again then.
	Err error
}

// Send sends the jobs in order, and returns what became of each. It checks all jobs first:
// if SQS would refuse one of them, nothing is sent and the error is a [*JobError]. A job
// that SQS refuses does not keep others from being sent, except those behind it in its
// group of a FIFO queue. After a call that failed as a whole nothing more is sent; the end
// of ctx is such a failure.
//
// The error is nil only if every job has arrived. It is a [*SendError] if some have not.
func (p *Producer) Send(ctx context.Context, jobs ...Job) ([]Sent, error) {
	drafts := make([]*sqssend.Draft, len(jobs))
	for i := range jobs {
		d, err := p.prepare(&jobs[i])
		if err != nil {
			return nil, &JobError{Number: i + 1, Key: jobs[i].Key, Err: err}
		}
		drafts[i] = d
	}
	sent := make([]Sent, len(jobs))
	messages, positions := p.messages(ctx, jobs, drafts, sent)
	for at, a := range sqssend.Send(ctx, p.api, p.queue.URL, messages, sqssend.Order{Groups: p.queue.FIFO, Stop: true}) {
		sent[positions[at]] = Sent{MessageID: a.MessageID, SequenceNumber: a.Sequence, Err: a.Err}
	}
	return sent, sendError(jobs, sent)
}

// prepare makes the message of a job, and checks it.
func (p *Producer) prepare(j *Job) (*sqssend.Draft, error) {
	d, err := p.draft(j)
	if err != nil {
		return nil, err
	}
	if err := p.compress(d); err != nil {
		return nil, err
	}
	if p.large(d) {
		return d, p.checkRest(d)
	}
	return d, d.Check()
}

// messages returns the messages to send, and the positions of their jobs. The others have
// their error in sent.
func (p *Producer) messages(
	ctx context.Context, jobs []Job, drafts []*sqssend.Draft, sent []Sent,
) (messages []sqssend.Message, positions []int) {
	var trace map[string]string
	if p.options.Trace != nil {
		trace = p.options.Trace(ctx)
	}
	failed := map[string]error{} // by message group
	for i, d := range drafts {
		if before := failed[d.Group]; p.queue.FIFO && before != nil {
			sent[i].Err = fmt.Errorf("%w: %w", ErrNotTried, before)
			continue
		}
		if p.large(d) {
			if err := p.store(ctx, d, jobs[i].Key); err != nil {
				sent[i].Err, failed[d.Group] = err, err
				continue
			}
		}
		p.withTrace(d, trace)
		messages, positions = append(messages, d.Message()), append(positions, i)
	}
	return messages, positions
}

// JobError says that a job cannot be sent as it is. Nothing was sent.
type JobError struct {
	// Number is the position of the job, from 1.
	Number int
	// Key is the key of the job; empty without one.
	Key string
	// Err says what is wrong with the job, such as a [*SizeError].
	Err error
}

// Error names the job and says what is wrong with it.
func (e *JobError) Error() string { return name(e.Number, e.Key) + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *JobError) Unwrap() error { return e.Err }

// SendError says that some jobs have not arrived, as far as is known.
type SendError struct {
	// Failed is the number of jobs without a confirmation, Of the number of all.
	Failed, Of int
	// Number and Key are those of the first of them, and Err is its error.
	Number int
	Key    string
	Err    error
}

// Error says how many jobs have not arrived, and why the first of them has not.
func (e *SendError) Error() string {
	return fmt.Sprintf("%d of %d jobs not sent: %s: %v", e.Failed, e.Of, name(e.Number, e.Key), e.Err)
}

// Unwrap returns Err.
func (e *SendError) Unwrap() error { return e.Err }

func name(number int, key string) string {
	if key == "" {
		return fmt.Sprintf("job %d", number)
	}
	return fmt.Sprintf("job %d (key %.100q)", number, key)
}

// sendError returns the error for the jobs that have not arrived. The one to show is not
// one that was held back by another.
func sendError(jobs []Job, sent []Sent) error {
	e := &SendError{Of: len(sent)}
	for i := range sent {
		err := sent[i].Err
		if err == nil {
			continue
		}
		if e.Failed++; e.Err == nil || errors.Is(e.Err, ErrNotTried) && !errors.Is(err, ErrNotTried) {
			e.Number, e.Key, e.Err = i+1, jobs[i].Key, err
		}
	}
	if e.Failed == 0 {
		return nil
	}
	return e
}
