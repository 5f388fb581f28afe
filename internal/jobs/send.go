package jobs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// API is the part of the SQS client that Send calls.
type API interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (
		*sqs.SendMessageBatchOutput, error)
}

// Result says whether one message was sent.
type Result struct {
	// Number is the number of the message, counted from 1.
	Number int
	Job    *Job
	// MessageID is empty if the message was not sent.
	MessageID string
	// Sequence is the sequence number in a FIFO queue.
	Sequence string
	// Err says why it was not sent: an [*EntryError], or the error of the call.
	// After an error of the call the message may still be in the queue.
	Err error
}

// EntryError is the error of SQS for one message of a batch.
type EntryError struct {
	Code, Message string
}

// Error returns the code and the message.
func (e *EntryError) Error() string { return e.Code + ": " + e.Message }

// Options configures [Send]. The zero value works.
type Options struct {
	// Rate is the maximum number of messages per second; 0 means no limit.
	Rate float64
	// Distinct returns a new deduplication id for each message to a FIFO queue
	// that has none; nil leaves such messages without one.
	Distinct func() string
	// Observe is called with the result of each message, in order. Nil means no
	// calls.
	Observe func(Result)
}

// Send sends the jobs in order, each as often as it says, with up to ten
// messages and 1 MiB per call. A call to a FIFO queue has one message of a group at
// most: SQS may refuse one and take those after it. A refused message does not keep others from
// being sent, unless its queue is FIFO, where that would break the order: then
// Send returns its error. Send also returns when a call fails or ctx ends. It
// did not try to send messages whose results were not passed to Observe.
func Send(ctx context.Context, api API, jobs []Job, o Options) error {
	s := sender{api: api, options: o, start: time.Now()}
	for i := range jobs {
		for range jobs[i].copies() {
			if err := s.add(ctx, &jobs[i]); err != nil {
				return err
			}
		}
	}
	return s.flush(ctx)
}

// sender collects the messages of one call.
type sender struct {
	api     API
	options Options
	start   time.Time
	sent    int // messages in the calls made so far

	jobs  []*Job
	bytes int
}

func (s *sender) add(ctx context.Context, j *Job) error {
	full := len(s.jobs) == s.perCall() || s.bytes+j.size() > maxBytes
	if len(s.jobs) > 0 && (full || s.jobs[0].Queue.URL != j.Queue.URL || s.follows(j)) {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	s.jobs, s.bytes = append(s.jobs, j), s.bytes+j.size()
	return nil
}

// follows reports whether the call has a message that has to be in the queue before j.
func (s *sender) follows(j *Job) bool {
	return j.Queue.FIFO && slices.ContainsFunc(s.jobs, func(other *Job) bool { return other.Group == j.Group })
}

// perCall returns the number of messages per call. With a low rate it is small,
// so that messages are not sent in bursts: there are at least ten calls per
// second.
func (s *sender) perCall() int {
	if s.options.Rate <= 0 {
		return maxEntries
	}
	return min(max(1, int(s.options.Rate/10)), maxEntries)
}

func (s *sender) flush(ctx context.Context) error {
	if len(s.jobs) == 0 {
		return nil
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	out, err := s.api.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{
		QueueUrl: aws.String(s.jobs[0].Queue.URL), Entries: s.entries(),
	})
	results := s.results(out, err)
	s.sent += len(s.jobs)
	s.jobs, s.bytes = s.jobs[:0], 0
	for _, r := range results {
		if s.options.Observe != nil {
			s.options.Observe(r)
		}
		if r.Err != nil && r.Job.Queue.FIFO && err == nil {
			err = r.Err
		}
	}
	return err
}

// wait waits until the rate allows the next call.
func (s *sender) wait(ctx context.Context) error {
	if s.options.Rate > 0 {
		due := s.start.Add(time.Duration(float64(s.sent) / s.options.Rate * float64(time.Second)))
		timer := time.NewTimer(time.Until(due))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// entries returns the entries of the call. Their ids are their positions.
func (s *sender) entries() []types.SendMessageBatchRequestEntry {
	entries := make([]types.SendMessageBatchRequestEntry, len(s.jobs))
	for i, j := range s.jobs {
		e := types.SendMessageBatchRequestEntry{
			Id:                aws.String(strconv.Itoa(i)),
			MessageBody:       aws.String(j.Body),
			DelaySeconds:      int32(j.Delay / time.Second),
			MessageAttributes: j.attributes(),
		}
		if j.Group != "" {
			e.MessageGroupId = aws.String(j.Group)
		}
		switch {
		case j.Dedup != "":
			e.MessageDeduplicationId = aws.String(j.Dedup)
		case j.Queue.FIFO && s.options.Distinct != nil:
			e.MessageDeduplicationId = aws.String(s.options.Distinct())
		}
		entries[i] = e
	}
	return entries
}

func (j *Job) attributes() map[string]types.MessageAttributeValue {
	if len(j.Attributes) == 0 {
		return nil
	}
	values := map[string]types.MessageAttributeValue{}
	for name, value := range j.Attributes {
		values[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
	}
	return values
}

// results converts the response. An entry that the response does not mention
// counts as not sent.
func (s *sender) results(out *sqs.SendMessageBatchOutput, err error) []Result {
	results := make([]Result, len(s.jobs))
	for i, j := range s.jobs {
		results[i] = Result{Number: s.sent + i + 1, Job: j, Err: err}
		if err == nil {
			results[i].Err = fmt.Errorf("the answer of SQS does not mention the message")
		}
	}
	if err != nil {
		return results
	}
	for _, ok := range out.Successful {
		if r := at(results, ok.Id); r != nil {
			r.MessageID, r.Sequence, r.Err = aws.ToString(ok.MessageId), aws.ToString(ok.SequenceNumber), nil
		}
	}
	for _, failed := range out.Failed {
		if r := at(results, failed.Id); r != nil {
			r.Err = &EntryError{Code: aws.ToString(failed.Code), Message: aws.ToString(failed.Message)}
		}
	}
	return results
}

func at(results []Result, id *string) *Result {
	i, err := strconv.Atoi(aws.ToString(id))
	if err != nil || i < 0 || i >= len(results) {
		return nil
	}
	return &results[i]
}
