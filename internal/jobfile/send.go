package jobfile

import (
	"context"
	"errors"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/internal/sqssend"
	sqsqueue "github.com/sqsafe/sqsafe/queue"
)

// Result says whether one message was sent.
type Result struct {
	// Number is the number of the message, counted from 1.
	Number int
	Job    *Job
	// MessageID is empty if the message was not sent.
	MessageID string
	// Sequence is the sequence number in a FIFO queue.
	Sequence string
	// Err says why it was not sent: a [*queue.EntryError], or the error of the call. After
	// an error of the call the message may still be in the queue.
	Err error
}

// Options configures [Send]. The zero value works.
type Options struct {
	// Rate is the maximum number of messages per second; 0 or less means no limit.
	Rate float64
	// Distinct returns a new deduplication id for each message to a FIFO queue
	// that has none; nil leaves such messages without one.
	Distinct func() string
	// Observe is called with the result of each message, in order. Nil means no
	// calls.
	Observe func(Result)
}

// Send sends the jobs in order, each as often as it says, with up to ten messages and
// 1 MiB per call. A refused message does not keep others from being sent, unless its queue
// is FIFO, where that would break the order: then Send returns its error. To a FIFO queue
// no call has two messages of one group. Send also returns when a call fails or ctx ends.
// Messages whose results were not passed to Observe were not tried.
func Send(ctx context.Context, api sqssend.API, jobs []Job, o Options) error {
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
	api     sqssend.API
	options Options
	start   time.Time
	sent    int // messages that were sent or tried so far

	jobs []*Job
}

func (s *sender) add(ctx context.Context, j *Job) error {
	if len(s.jobs) > 0 && (len(s.jobs) == s.perCall() || s.jobs[0].Queue.URL != j.Queue.URL) {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	s.jobs = append(s.jobs, j)
	return nil
}

// perCall returns the number of messages per call. With a low rate it is small,
// so that messages are not sent in bursts: there are at least ten calls per
// second, or each call has one message.
func (s *sender) perCall() int {
	if s.options.Rate <= 0 {
		return sqscall.MaxEntries
	}
	return min(max(1, int(s.options.Rate/10)), sqscall.MaxEntries)
}

func (s *sender) flush(ctx context.Context) error {
	if len(s.jobs) == 0 {
		return nil
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	queue := s.jobs[0].Queue
	answers := sqssend.Send(ctx, s.api, queue.URL, s.messages(), sqssend.Order{Groups: queue.FIFO, Stop: true})
	var err error
	for i, a := range answers {
		if errors.Is(a.Err, sqssend.ErrNotTried) {
			continue
		}
		r := Result{Number: s.sent + i + 1, Job: s.jobs[i], MessageID: a.MessageID, Sequence: a.Sequence, Err: a.Err}
		if s.options.Observe != nil {
			s.options.Observe(r)
		}
		_, refused := errors.AsType[*sqsqueue.EntryError](a.Err)
		alone := refused || errors.Is(a.Err, handler.ErrUnanswered)
		if a.Err != nil && err == nil && (queue.FIFO || !alone) {
			err = a.Err
		}
	}
	s.sent += len(s.jobs)
	s.jobs = s.jobs[:0]
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

func (s *sender) messages() []sqssend.Message {
	messages := make([]sqssend.Message, len(s.jobs))
	for i, j := range s.jobs {
		d := j.draft()
		if d.Dedup == "" && d.Queue.FIFO && s.options.Distinct != nil {
			d.Dedup = s.options.Distinct()
		}
		messages[i] = d.Message()
	}
	return messages
}
