package handler_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// fakeLedger is a ledger in memory. A body with the word "suspect" has two claims
// without a result, one with "once" has one. The attribute "job" names the job; else
// each message is one of its own. What it is told is noted in the trace: "claim m1",
// then "complete m1", "release m1", "verdict m1", "abort m1" or "crash m1".
type fakeLedger struct {
	*trace
	// ahead lets first deliveries be claimed ahead: they run in the order of the
	// answers then, which tests that look at the order do without.
	ahead bool
	// job is what earlier runs left of each job.
	job handler.Job
	// claimTime and settleTime are how long the calls take.
	claimTime, settleTime time.Duration
	// lease is how long a claim may be used; 0: as long as the invocation.
	lease time.Duration
	// lost is closed when all claims are lost; nil if they are not.
	lost chan struct{}
	// on is told of each call of "identify", "claim", "count", "settle" and "confirm".
	on func(ctx context.Context, call string, m *handler.Message)
	// letterLease, identify, decided, countErr, settled and confirm are asked where they
	// are set.
	letterLease func(m *handler.Message) time.Duration
	identify    func(m *handler.Message) error
	decided     func(m *handler.Message) *handler.Result
	countErr    error
	settled     func(m *handler.Message, e handler.Ending) *handler.Result
	// duplicate is told of messages whose job is done.
	duplicate func(m *handler.Message)
	confirm   func(ctx context.Context, deadLetterID string) error

	jobs   sync.Mutex
	states map[string]jobState
}

type jobState struct {
	done, claimed bool
	until         time.Time
}

func newLedger(tr *trace) *fakeLedger { return &fakeLedger{trace: tr, states: map[string]jobState{}} }

func (l *fakeLedger) Ahead() bool { return l.ahead }

func (l *fakeLedger) tell(ctx context.Context, call string, m *handler.Message) {
	if l.on != nil {
		l.on(ctx, call, m)
	}
}

func (l *fakeLedger) Identify(ctx context.Context, m *handler.Message) (handler.Identity, error) {
	l.tell(ctx, "identify", m)
	if l.identify != nil {
		if err := l.identify(m); err != nil {
			return handler.Identity{}, err
		}
	}
	id, ok := m.Attribute("job")
	if !ok {
		id = m.MessageId + " " + m.ReceiptHandle
	}
	return handler.Identity{Key: l.job.Key, ID: id}, nil
}

func (l *fakeLedger) Claim(
	ctx context.Context, m *handler.Message, id handler.Identity, end time.Time,
) handler.ClaimAnswer {
	l.note("claim " + m.MessageId)
	l.tell(ctx, "claim", m)
	if l.claimTime > 0 {
		<-time.After(l.claimTime)
	}
	if l.decided != nil {
		if r := l.decided(m); r != nil {
			return handler.ClaimAnswer{Decided: r}
		}
	}
	l.jobs.Lock()
	defer l.jobs.Unlock()
	switch state := l.states[id.ID]; {
	case state.done:
		if l.duplicate != nil {
			l.duplicate(m)
		}
		return handler.ClaimAnswer{Decided: &handler.Result{Outcome: handler.OutcomeDuplicate}}
	case state.claimed || time.Now().Before(state.until):
		return handler.ClaimAnswer{Decided: &handler.Result{
			Outcome: handler.OutcomeBusy, Until: time.Now().Add(time.Second),
		}}
	}
	l.states[id.ID] = jobState{claimed: true}
	c := &fakeClaim{fakeLedger: l, message: m, id: id.ID, until: end}
	if l.lease > 0 {
		c.until = time.Now().Add(l.lease)
	}
	a := handler.ClaimAnswer{Claim: c, Job: l.job}
	for word := range strings.FieldsSeq(m.Body) {
		switch word {
		case "once":
			a.Unsettled = 1
		case "suspect":
			a.Unsettled = 2
		}
	}
	return a
}

type fakeClaim struct {
	*fakeLedger
	message *handler.Message
	id      string

	mu    sync.Mutex
	until time.Time
}

func (c *fakeClaim) Lease() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until
}

func (c *fakeClaim) Lost() <-chan struct{} { return c.lost }

func (c *fakeClaim) CountCrash(ctx context.Context, counted bool) error {
	c.tell(ctx, "count", c.message)
	if counted {
		c.note("count " + c.message.MessageId)
	} else {
		c.note("uncount " + c.message.MessageId)
	}
	return c.countErr
}

func (*fakeClaim) Run(ctx context.Context) (context.Context, func()) { return ctx, func() {} }

func (c *fakeClaim) Settle(ctx context.Context, e handler.Ending) *handler.Result {
	c.tell(ctx, "settle", c.message)
	if c.settleTime > 0 {
		<-time.After(c.settleTime)
	}
	state, word := jobState{}, "abort"
	switch e.Result.Outcome {
	case handler.OutcomeDone:
		state.done, word = true, "complete"
	case handler.OutcomeRetry:
		if e.Started {
			state.until, word = time.Now().Add(10*time.Second), "release"
		}
	case handler.OutcomeDead, handler.OutcomeDropped:
		if e.Result.Failure == nil {
			break
		}
		state.until, word = time.Now().Add(time.Hour), "verdict"
		if c.letterLease != nil {
			c.mu.Lock()
			c.until = time.Now().Add(c.letterLease(c.message))
			c.mu.Unlock()
		}
	case handler.OutcomeCrash:
		if e.Blamed {
			word = "crash"
		}
	}
	c.note(word + " " + c.message.MessageId)
	c.jobs.Lock()
	c.states[c.id] = state
	c.jobs.Unlock()
	if c.settled != nil {
		if r := c.settled(c.message, e); r != nil {
			return r
		}
	}
	return e.Result
}

func (c *fakeClaim) Confirm(ctx context.Context, deadLetterID string) error {
	c.tell(ctx, "confirm", c.message)
	if c.confirm == nil {
		return nil
	}
	return c.confirm(ctx, deadLetterID)
}

// verdicts is a ledger under which a dead letter may be sent for so long, and then is
// confirmed.
func verdicts(lease time.Duration, confirm func(ctx context.Context, deadLetterID string) error) *fakeLedger {
	l := newLedger(newTrace())
	l.letterLease = func(*handler.Message) time.Duration { return lease }
	l.confirm = confirm
	return l
}

// storeDown is the outcome of a message whose ledger cannot be reached.
func storeDown(err error) *handler.Result {
	return &handler.Result{
		Outcome: handler.OutcomeRetry, Err: err,
		Decision: fault.Decision{Class: fault.ClassRetryable, Reason: fault.ReasonStore},
	}
}
