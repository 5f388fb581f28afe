package idem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

const (
	// settleTime bounds a write where the invocation has no deadline.
	settleTime = 10 * time.Second
	// crashTime bounds the mark of a crash: the process is about to end.
	crashTime = 500 * time.Millisecond
	// earlyBy is how much a released job may be claimed before its next attempt:
	// a host whose clock is a little behind is not to find it claimed. More would
	// let copies of the job run before their time.
	earlyBy = 100 * time.Millisecond
	// crashStackBytes is how much of a stack is kept with the job.
	crashStackBytes = 4 << 10
)

// settle writes the outcome of the run and gives the result to report.
func (c *claimed) settle(ctx context.Context, res *handler.Result) error {
	if res.Job.Key != c.message.Job.Key {
		// A result that the user made says nothing of the job.
		res.Job = c.message.Job
	}
	if c.completion.Committed() {
		return c.committed(ctx, res)
	}
	if cutOff, ok := errors.AsType[*handler.NotRunError](res.Err); ok {
		return c.giveUp(ctx, res, cutOff)
	}
	switch res.Outcome {
	case handler.OutcomeDone, handler.OutcomeDuplicate:
		return c.complete(ctx, res)
	case handler.OutcomeRetry:
		return c.release(ctx, res)
	case handler.OutcomeDead, handler.OutcomeDropped:
		return c.bury(ctx, res, 0)
	case handler.OutcomeCrash:
		c.markCrash(ctx, res.Err)
		return res
	default:
		return c.abort(ctx, res)
	}
}

// committed is the outcome of a job that its own transaction completed. Nothing
// that it returns afterwards undoes that, and no other delivery would run it.
func (c *claimed) committed(ctx context.Context, res *handler.Result) error {
	switch res.Outcome {
	case handler.OutcomeDone:
		return nil
	case handler.OutcomeDuplicate, handler.OutcomeCrash:
		return res
	}
	c.warn(ctx, "error after the job was completed", res)
	return &handler.Result{
		Outcome: handler.OutcomeDone, Decision: fault.Decision{Reason: ReasonCompleted}, Job: c.message.Job,
	}
}

func (c *claimed) complete(ctx context.Context, res *handler.Result) error {
	err := c.write(ctx, Settlement{Kind: SettleComplete})
	if err == nil && res.Outcome == handler.OutcomeDone {
		return nil
	}
	if err == nil {
		return res
	}
	unrecorded := &handler.Result{
		Outcome:  handler.OutcomeUnrecorded,
		Decision: fault.Decision{Reason: fault.ReasonStore},
		Delay:    rest(c.message.Random, c.answer.Claim.Lease),
		Err:      fmt.Errorf("done but not recorded: %w", err),
		Job:      c.message.Job,
	}
	if late, ok := errors.AsType[*LateError](err); ok {
		unrecorded.Decision.Reason, unrecorded.Delay = ReasonLate, rest(c.message.Random, late.Until)
	}
	return unrecorded
}

func (c *claimed) release(ctx context.Context, res *handler.Result) error {
	err := c.write(ctx, Settlement{
		Kind:     SettleRelease,
		Lease:    time.Now().Add(max(res.Delay-earlyBy, 0)),
		Attempts: res.Job.Attempts, Unclassified: res.Job.Unclassified, History: res.Job.History,
	})
	return c.unlessLate(ctx, err, res)
}

func (c *claimed) abort(ctx context.Context, res *handler.Result) error {
	err := c.write(ctx, Settlement{
		Kind: SettleAbort, Lease: time.Now(), Crashes: c.answer.Job.Crashes,
	})
	if c.lost != nil && res.Outcome == handler.OutcomeUnrun {
		res = busy(c.message, ReasonLate, c.answer.Claim.Lease)
		res.Err = c.lost
	}
	return c.unlessLate(ctx, err, res)
}

// giveUp buries a job that was not run, or cut off, at its last receive. Who has
// lost the job does not: another delivery may run it.
func (c *claimed) giveUp(ctx context.Context, res *handler.Result, cutOff *handler.NotRunError) error {
	if c.lost != nil {
		return c.abort(ctx, c.message.Unrun(cutOff.Reason, cutOff.Err))
	}
	return c.bury(ctx, res, c.answer.Job.Crashes)
}

// bury writes the verdict, without which no dead letter may be sent. That of a
// job that is dropped is confirmed at once.
func (c *claimed) bury(ctx context.Context, res *handler.Result, crashes int) error {
	now := time.Now()
	lease := c.sendLease(ctx, now)
	if res.Failure == nil {
		res.Failure = &handler.Failure{Class: res.Decision.Class.String(), Reason: res.Decision.Reason}
	}
	if res.Failure.Last.IsZero() { // it tells this death apart from others
		res.Failure.Last = handler.NewTimestamp(now)
	}
	res.Failure.Key, res.Failure.Epoch, res.Failure.Verdict = c.message.Job.Key, c.answer.Claim.Epoch, true
	verdict := Settlement{
		Kind: SettleVerdict, Lease: lease, DeadAt: now, Failure: res.Failure, Crashes: crashes,
		Attempts: res.Job.Attempts, Unclassified: res.Job.Unclassified, History: res.Job.History,
	}
	dropped := res.Outcome == handler.OutcomeDropped
	if dropped {
		verdict.DeadLetterID = DroppedLetter
	}
	err := c.write(ctx, verdict)
	switch {
	case err == nil && dropped:
		return res
	case err == nil:
		res.Lease, res.AfterSend = lease, c.confirm
		return res
	}
	unwritten := storeFailed(c.message, fmt.Errorf("idem: verdict on %w: %w", res.Err, err))
	unwritten.Delay = rest(c.message.Random, c.answer.Claim.Lease)
	return c.unlessLate(ctx, err, unwritten)
}

// confirm notes that the dead-letter queue has the job.
func (c *claimed) confirm(ctx context.Context, deadLetterID string) error {
	return c.store.Settle(ctx, c.answer.Claim, Settlement{Kind: SettleConfirm, DeadLetterID: deadLetterID})
}

// unlessLate gives res, or what follows if the job is another's by now. What
// could not be written for another cause is logged: the claim lapses by itself.
func (c *claimed) unlessLate(ctx context.Context, err error, res *handler.Result) error {
	if err == nil {
		return res
	}
	var late *LateError
	if !errors.As(err, &late) {
		c.warn(ctx, "claim not settled", err)
		return res
	}
	if late.Status == StatusCompleted {
		return &handler.Result{
			Outcome: handler.OutcomeDone, Decision: fault.Decision{Reason: ReasonCompleted}, Job: c.message.Job,
		}
	}
	c.warn(ctx, "claim lost", err)
	lost := busy(c.message, ReasonLate, late.Until)
	lost.Err = errors.Join(err, res.Err)
	return lost
}

// markCrash counts the crash, as it was counted if the job ran alone, and keeps
// its place. A handler that panicked runs
// no more, so its claim ends; one that was abandoned may still run.
func (c *claimed) markCrash(ctx context.Context, err error) {
	if c.completion.Committed() {
		return
	}
	mark := Settlement{Kind: SettleCrash, Crashes: c.crashed(), Lease: c.answer.Claim.Lease}
	if panicked, ok := errors.AsType[*handler.PanicError](err); ok {
		mark.Lease, mark.CrashStack = time.Now(), stackHead(panicked.Stack)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), crashTime)
	defer cancel()
	if err := c.store.Settle(ctx, c.answer.Claim, mark); err != nil {
		c.warn(ctx, "crash not marked", err)
	}
}

// stackHead is the stack from where the panic happened, cut to size.
func stackHead(stack string) string {
	if i := strings.LastIndex(stack, "\npanic("); i >= 0 {
		if lines := strings.SplitN(stack[i+1:], "\n", 3); len(lines) == 3 {
			stack = lines[2]
		}
	}
	if len(stack) > crashStackBytes {
		stack = strings.ToValidUTF8(stack[:crashStackBytes], "")
	}
	return stack
}

// writeContext outlives the job's context, which may be cancelled by now: what
// was decided is still to be written, before the message is given up.
func writeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := handler.SettleDeadline(ctx)
	if !ok {
		end = time.Now().Add(settleTime)
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// write settles the claim.
func (c *claimed) write(ctx context.Context, s Settlement) error {
	ctx, cancel := writeContext(ctx)
	defer cancel()
	s.Expires = time.Now().Add(c.options.Keep)
	return c.store.Settle(ctx, c.answer.Claim, s)
}

// logKeyBytes is how much of a key a log line carries; a payload may make it long.
const logKeyBytes = 128

func keyField(key string) slog.Attr {
	if len(key) > logKeyBytes {
		key = strings.ToValidUTF8(key[:logKeyBytes], "")
	}
	return slog.String("key", key)
}

func (c *claimed) warn(ctx context.Context, what string, err error) {
	c.options.log(ctx, slog.LevelWarn, what,
		slog.String("messageId", c.answer.Claim.MessageID),
		keyField(c.answer.Job.Key),
		slog.String("error", err.Error()))
}
