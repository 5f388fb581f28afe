package sqs

import (
	"context"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Limits of a receive (AWS limits).
const (
	maxReceive = 10
	maxWait    = 20 // seconds
)

type receiveInput struct {
	target
	AttributeNames              []string
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
	ReceiveRequestAttemptID     string `json:"ReceiveRequestAttemptId"`
}

type receiveOutput struct {
	Messages []received `json:",omitempty"`
}

// receiving holds the checked parameters of a receive, with defaults filled in.
type receiving struct {
	max         int
	timeout     time.Duration
	wait        time.Duration
	attributes  selection
	systemNames map[string]bool
	attemptID   string
}

// receiveMessage answers a short poll at once, and a long poll when there is a
// message or its wait time has ended.
func (s *Service) receiveMessage(ctx context.Context, r *protocol.Request) (any, error) {
	var in receiveInput
	if err := r.Decode(&in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	want, err := in.complete(q)
	if err != nil {
		return nil, err
	}
	if want.wait == 0 && !q.fifo() && q.counts[inFlight] >= maxInFlight {
		return nil, refusal("OverLimit", "Too many messages in flight: %d at most.", maxInFlight)
	}
	messages := s.receive(q, want)
	if len(messages) == 0 && want.wait > 0 {
		messages, err = s.poll(ctx, q, want)
	}
	return &receiveOutput{messages}, err
}

// poll waits for messages. It releases the lock while it waits.
func (s *Service) poll(ctx context.Context, q *queue, want receiving) ([]received, error) {
	over := make(chan struct{})
	stop := s.clock.AfterFunc(want.wait, func() { close(over) })
	defer stop()
	w := q.waiters.add()
	defer func() {
		// This poll may have been woken for a message that it did not take:
		// wake the next.
		q.waiters.remove(w)
		s.wakeOrSchedule(q)
	}()
	for last := false; ; {
		s.wakeOrSchedule(q)
		s.unlock()
		select {
		case <-w.wake:
		case <-over:
			last = true
		case <-ctx.Done():
		}
		s.mu.Lock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if q.gone {
			return nil, noQueue()
		}
		q.advance(s.clock.Now())
		if messages := s.receive(q, want); len(messages) > 0 || last {
			return messages, nil
		}
		q.waiters.again(w)
	}
}

// receive takes messages, or returns those of an earlier attempt again.
func (s *Service) receive(q *queue, want receiving) []received {
	now := s.clock.Now()
	took := q.repeat(want.attemptID, now, want.timeout)
	if took == nil {
		took = s.take(q, want, now)
		q.note(want.attemptID, took, now)
	}
	var out []received
	for _, m := range took {
		out = append(out, want.present(s, m))
	}
	q.advance(now)
	s.wakeOrSchedule(q)
	return out
}

// take puts messages in flight. It moves those that reached the maximum receive
// count to the dead-letter queue instead.
func (s *Service) take(q *queue, want receiving, now time.Time) []*message {
	var took []*message
	limit := min(want.max, maxInFlight-q.counts[inFlight])
	q.order.receive(limit, func(m *message) bool {
		if s.deadLetter(q, m, now) {
			return false
		}
		m.receives++
		m.lastReceive = now
		if m.firstReceive.IsZero() {
			m.firstReceive = now
		}
		m.handle = q.receipt(m)
		q.set(m, inFlight, now.Add(want.timeout))
		s.record(Received, q, m, want.timeout, "")
		took = append(took, m)
		return true
	})
	return took
}

// complete checks the parameters and fills in the queue's defaults.
func (in *receiveInput) complete(q *queue) (receiving, error) {
	want := receiving{
		max:        1,
		timeout:    q.settings.seconds(visibilityTimeout),
		wait:       q.settings.seconds(receiveWaitTime),
		attributes: in.MessageAttributeNames,
		attemptID:  in.ReceiveRequestAttemptID,
	}
	if n := in.MaxNumberOfMessages; n != nil {
		if want.max = *n; *n < 1 || *n > maxReceive {
			return want, invalidValue(*n, "MaxNumberOfMessages", "Must be between 1 and 10, if provided.")
		}
	}
	if n := in.VisibilityTimeout; n != nil {
		if want.timeout = time.Duration(*n) * time.Second; *n < 0 || *n > maxVisibility {
			return want, invalidValue(*n, visibilityTimeout, "Must be between 0 and 43200, if provided.")
		}
	}
	if n := in.WaitTimeSeconds; n != nil {
		if want.wait = time.Duration(*n) * time.Second; *n < 0 || *n > maxWait {
			return want, invalidValue(*n, "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")
		}
	}
	if err := q.checkAttempt(in.ReceiveRequestAttemptID); err != nil {
		return want, err
	}
	var err error
	want.systemNames, err = systemNames(in.AttributeNames, in.MessageSystemAttributeNames)
	return want, err
}
