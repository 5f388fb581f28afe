package handler

import (
	"cmp"
	"context"
)

// share is what a message holds of its process's turn.
type share uint8

const (
	shareNone share = iota
	shareSome
	shareAll
)

// seat is the place that a message has in its batch while it is taken through
// the chain. Only the message's own goroutine uses it.
type seat struct {
	batch   *batch
	entry   *entry
	message *Message
	carrier *carrier
	holds   share
}

// take waits for the turn, as one of many or alone. The reason says why the
// message is not to go on; empty if it is.
func (s *seat) take(ctx context.Context, wants share) (reason string) {
	b, quit := s.batch, s.batch.draining
	if s.message.unrunReason != "" {
		quit = nil // its verdict is all that is left to do
	}
	if !b.options.Process.turn.take(ctx, quit, wants == shareAll) {
		return cmp.Or(cutOff(ctx), ReasonCancelled)
	}
	s.holds = wants
	switch {
	case b.stopped():
		reason = ReasonAfterCrash
	case closed(quit):
		reason = ReasonCancelled
	case s.entry.call != nil && ctx.Err() != nil:
		reason = cutOff(ctx) // it ended while the message stood aside
	default:
		return ""
	}
	s.giveBack()
	return reason
}

func (s *seat) giveBack() {
	if s.holds != shareNone {
		s.batch.options.Process.turn.giveBack(s.holds == shareAll)
		s.holds = shareNone
	}
}

// stepAside gives the place up until the batch calls the message again. The
// reason says why it is not to go on; empty if it is.
func (s *seat) stepAside(why state) (reason string) {
	s.giveBack()
	s.entry.call = make(chan string, 1)
	s.batch.signal(signal{entry: s.entry, parked: why})
	select {
	case reason = <-s.entry.call:
		return reason
	case <-s.batch.over:
		return ReasonAfterCrash // it was given up
	}
}

// Alone waits until no other message of the process is claimed, running or being
// settled in the ledger, and keeps the process to this one until it is through
// the middleware. It is for a job that may have ended its process before: what
// was finished by then is safe, and only the job itself can die. The error holds
// the [Result] of a message that is not to run for want of time, or since the
// process is to end. Outside of a batch it gives nil at once.
func (m *Message) Alone(ctx context.Context) error {
	s := m.seat
	if s == nil || s.holds == shareAll {
		return nil
	}
	reason := s.stepAside(stateSuspect)
	if reason == "" {
		reason = s.take(ctx, shareAll)
	}
	if reason != "" {
		return m.NotRun(ctx, reason, nil)
	}
	return nil
}

// Twin is a message of the same batch for the same job that came first.
type Twin struct {
	// SamePayload tells whether it carries the same payload.
	SamePayload bool
	// Outcome is what became of it; OutcomeNone where the payload is another, as
	// that is not waited for.
	Outcome Outcome
}

// First tells which message of its batch m follows as a copy of one job, and
// waits until that one is decided; nil if m is the first. The payload's hash
// tells copies from other jobs under the same id. The error holds the [Result]
// of a message that is not to go on. Outside of a batch every message is first.
func (m *Message) First(ctx context.Context, job, payloadHash string) (*Twin, error) {
	s := m.seat
	if s == nil {
		return nil, nil
	}
	first := s.batch.register(s.entry, job, payloadHash)
	switch {
	case first == s.entry:
		return nil, nil
	case first.payloadHash != payloadHash:
		return &Twin{}, nil
	}
	s.entry.follows = first
	reason := s.stepAside(stateTwin)
	if reason == "" {
		reason = s.take(ctx, shareSome)
	}
	if reason != "" {
		return nil, m.Unrun(reason, nil)
	}
	return &Twin{SamePayload: true, Outcome: first.result.Outcome}, nil
}
