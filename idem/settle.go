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
	"github.com/sqsafe/sqsafe/internal/host"
)

const (
	// releaseEarly is how long before its next attempt a released job may be claimed. It
	// allows for a host with a clock that is a little behind. A longer time would let
	// copies of the job run too early.
	releaseEarly = 100 * time.Millisecond
	// crashStackBytes is how many bytes of a stack are stored with the job.
	crashStackBytes = 4 << 10
)

// Settle implements [handler.Claim].
func (c *claim) Settle(ctx context.Context, e handler.Ending) *handler.Result {
	c.renewal.stop()
	c.endCounting()
	res := e.Result
	if c.completion.Committed() {
		return c.committed(ctx, res)
	}
	switch res.Outcome {
	case handler.OutcomeDone, handler.OutcomeDuplicate:
		return c.complete(ctx, res)
	case handler.OutcomeRetry:
		if e.Started || res.Decision.Reason != fault.ReasonStore {
			return c.release(ctx, res)
		}
	case handler.OutcomeDead, handler.OutcomeDropped:
		if res.Failure != nil {
			return c.writeVerdict(ctx, e)
		}
	case handler.OutcomeCrash:
		if e.Blamed {
			return c.markCrash(ctx, e, c.answer.Job.Crashes+1)
		}
	}
	if c.options.DeadLetterUnknown && isUnknown(e) {
		return c.markCrash(ctx, e, c.answer.Job.Crashes)
	}
	return c.abort(ctx, e)
}

// isUnknown reports whether a job may have taken effect although nobody knows its result:
// its function was left behind, or middleware panicked after it.
func isUnknown(e handler.Ending) bool {
	return e.Started && (e.Running || e.Result.Outcome == handler.OutcomeCrash)
}

// committed returns the outcome of a job that its own transaction has completed. A later
// error of the job does not undo that, and no other delivery would run the job.
func (c *claim) committed(ctx context.Context, res *handler.Result) *handler.Result {
	switch res.Outcome {
	case handler.OutcomeDone, handler.OutcomeDuplicate, handler.OutcomeCrash:
		return res
	}
	c.warn(ctx, "error after the job was completed", res)
	return c.completed()
}

// completed returns the outcome of a job that is already done.
func (c *claim) completed() *handler.Result {
	return &handler.Result{
		Outcome: handler.OutcomeDone, Decision: fault.Decision{Reason: ReasonCompleted}, Job: c.answer.Job,
	}
}

func (c *claim) complete(ctx context.Context, res *handler.Result) *handler.Result {
	err := c.write(ctx, Settlement{Kind: SettleComplete})
	if err == nil {
		return res
	}
	unrecorded := &handler.Result{
		Outcome:  handler.OutcomeUnrecorded,
		Decision: fault.Decision{Reason: fault.ReasonStore},
		Until:    c.leaseEnd(),
		Err:      fmt.Errorf("done but not recorded: %w", err),
		Job:      c.answer.Job,
	}
	if late, ok := errors.AsType[*LateError](err); ok {
		unrecorded.Decision.Reason, unrecorded.Until = ReasonLate, nonZero(late.Until)
	}
	return unrecorded
}

func (c *claim) release(ctx context.Context, res *handler.Result) *handler.Result {
	err := c.write(ctx, Settlement{
		Kind:     SettleRelease,
		Lease:    time.Now().Add(max(res.Delay-releaseEarly, 0)),
		Attempts: res.Job.Attempts, Unclassified: res.Job.Unclassified, History: res.Job.History,
	})
	return c.unlessLate(ctx, err, res)
}

// abort releases the job without a change of its state. If its user code may still run,
// the lease does not change.
func (c *claim) abort(ctx context.Context, e handler.Ending) *handler.Result {
	res, lease := e.Result, time.Now()
	if e.Running {
		lease = c.longestLease()
	}
	err := c.write(ctx, Settlement{Kind: SettleAbort, Lease: lease, Crashes: c.answer.Job.Crashes})
	if lost := c.lostErr(); lost != nil && res.Outcome == handler.OutcomeDeferred {
		res = busy(ReasonLate, c.leaseEnd(), c.answer.Job)
		res.Err = lost
	}
	return c.unlessLate(ctx, err, res)
}

// writeVerdict records that the job is dead. Without a verdict no dead letter may be
// sent. The verdict on a dropped job is confirmed at once. A job that did not start keeps
// its crash count. If its claim was lost before it started, it may run elsewhere and is
// released instead.
func (c *claim) writeVerdict(ctx context.Context, e handler.Ending) *handler.Result {
	res, now := e.Result, time.Now()
	if lost := c.lostErr(); lost != nil && !e.Started {
		return c.abort(ctx, handler.Ending{Result: deferred(handler.ReasonNoTime)})
	}
	lease := leaseEnd(now, c.end, max(c.options.Lease, letterLease))
	if res.Failure.Last.IsZero() { // it tells this death apart from others
		res.Failure.Last = handler.NewTimestamp(now)
	}
	res.Failure.Key, res.Failure.Epoch, res.Failure.Verdict = c.answer.Job.Key, c.answer.Claim.Epoch, true
	verdict := Settlement{
		Kind: SettleVerdict, Lease: lease, DeadAt: now, Failure: res.Failure,
		Attempts: res.Job.Attempts, Unclassified: res.Job.Unclassified, History: res.Job.History,
	}
	if !e.Started {
		verdict.Crashes = c.answer.Job.Crashes
	}
	if res.Outcome == handler.OutcomeDropped {
		verdict.DeadLetterID = DroppedLetter
	}
	err := c.write(ctx, verdict)
	if err == nil {
		c.setLease(lease)
		return res
	}
	unwritten := storeFailed(fmt.Errorf("idem: verdict on %w: %w", res.Err, err))
	unwritten.Until, unwritten.Job = c.leaseEnd(), c.answer.Job
	return c.unlessLate(ctx, err, unwritten)
}

// markCrash records a crash and its stack, and leaves the claim without a result. The
// count is the one that was written before a lone run, or one higher for another run, or
// unchanged if the job is not to blame. After a panic the claim ends. After an abandoned
// run it keeps its lease, since the user code may still run.
func (c *claim) markCrash(ctx context.Context, e handler.Ending, crashes int) *handler.Result {
	mark := Settlement{Kind: SettleCrash, Crashes: crashes, Lease: time.Now()}
	if e.Running {
		mark.Lease = c.longestLease()
	}
	if panicked, ok := errors.AsType[*handler.PanicError](e.Result.Err); ok {
		mark.CrashStack = stackHead(panicked.Stack)
	}
	if err := c.write(ctx, mark); err != nil {
		c.warn(ctx, "crash not marked", err)
	}
	return e.Result
}

// unlessLate returns res, or the outcome that follows if another delivery has taken over
// the job. Any other failed write is logged: the lease expires by itself.
func (c *claim) unlessLate(ctx context.Context, err error, res *handler.Result) *handler.Result {
	if err == nil {
		return res
	}
	late, ok := errors.AsType[*LateError](err)
	switch {
	case !ok:
		c.warn(ctx, "claim not settled", err)
		return res
	case late.Status == StatusCompleted:
		return c.completed()
	}
	c.warn(ctx, "claim lost", err)
	lost := busy(ReasonLate, late.Until, c.answer.Job)
	lost.Err = errors.Join(err, res.Err)
	return lost
}

// leaseEnd returns the end of the claim as stored.
func (c *claim) leaseEnd() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lease
}

// longestLease returns the end that the claim may have in the store: a renewal without an
// answer may have been written. A run that is left behind must not make it shorter.
func (c *claim) longestLease() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked.After(c.lease) {
		return c.asked
	}
	return c.lease
}

const (
	retryBase = 50 * time.Millisecond
	retryCap  = 2 * time.Second
)

// retryDelay returns the wait before the next try of a write. It grows with each try, up
// to a quarter of the time that is left, and has full jitter, since many writes to a
// throttled table fail together.
func retryDelay(ctx context.Context, attempt int) time.Duration {
	limit := min(retryBase<<min(attempt, 6), retryCap, max(timeLeft(ctx)/4, retryBase))
	return time.Duration(host.Random(ctx) * float64(limit))
}

// write settles the claim. A temporary failure, such as a throttled table, is retried
// until ctx ends. The SDK limits its own retries by number, but the outcome must be
// recorded as long as there is time.
func (c *claim) write(ctx context.Context, s Settlement) error {
	s.Expires = time.Now().Add(c.options.Keep)
	for attempt := 1; ; attempt++ {
		err := c.store.Settle(ctx, c.answer.Claim, s)
		if err == nil || !c.isTemporary(ctx, err) {
			return err
		}
		timer := time.NewTimer(retryDelay(ctx, attempt))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// timeLeft returns the time until the deadline of ctx.
func timeLeft(ctx context.Context) time.Duration {
	end, _ := ctx.Deadline()
	return time.Until(end)
}

// isTemporary reports whether a failed write should be retried.
func (c *claim) isTemporary(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if _, late := errors.AsType[*LateError](err); late {
		return false
	}
	if _, bounded := ctx.Deadline(); !bounded {
		return false
	}
	d := c.options.classifier.Classify(ctx, err)
	return d.Class == fault.ClassRetryable && d.Reason != fault.ReasonEnvironment
}

// stackHead returns the stack from the place of the panic, shortened to crashStackBytes.
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

// writeTimeout bounds a claim, and a write for which nothing else does.
const writeTimeout = 10 * time.Second

// writeContext returns a context that outlives the job's context, which may be cancelled:
// a completed step must be recorded anyway.
func writeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
}

// logKeyBytes is how many bytes of a key a log line shows. A payload may make the key
// long.
const logKeyBytes = 128

func keyField(key string) slog.Attr {
	if len(key) > logKeyBytes {
		key = strings.ToValidUTF8(key[:logKeyBytes], "")
	}
	return slog.String("key", key)
}

func (c *claim) warn(ctx context.Context, what string, err error) {
	c.options.log(ctx, slog.LevelWarn, what,
		slog.String("messageId", c.answer.Claim.MessageID),
		keyField(c.answer.Job.Key),
		slog.String("error", err.Error()))
}
