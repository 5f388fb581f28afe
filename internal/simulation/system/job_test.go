package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// kind is what a job does when it runs.
type kind string

const (
	quick     kind = "quick"     // ends well at once
	slow      kind = "slow"      // ends well after a while
	deaf      kind = "deaf"      // the same, and ignores its context
	flaky     kind = "flaky"     // fails a few times before it ends well
	permanent kind = "permanent" // fails for good
	odd       kind = "odd"       // fails with an error that no rule knows
	panics    kind = "panics"
	poison    kind = "poison"   // ends its process without a word
	endless   kind = "endless"  // ends with its context only
	stuck     kind = "stuck"    // does not end at all
	garbled   kind = "garbled"  // cannot be decoded
	goexit    kind = "goexit"   // ends its goroutine
	stepped   kind = "stepped"  // ends well in several steps, each of which is recorded
	transact  kind = "transact" // completes itself in a transaction
	later     kind = "later"    // middleware leaves it to a later receive, twice
	unwanted  kind = "unwanted" // middleware gives it up
	fatal     kind = "fatal"    // ends its process when it is decoded
	bursts    kind = "bursts"   // panics when it is decoded
	keyless   kind = "keyless"  // has no key
	spawned   kind = "spawned"  // panics on a goroutine of its own
	halts     kind = "halts"    // does a step, and fails for good behind it
	moody     kind = "moody"    // panics and fails in turns before it ends well
)

// job is a job of a history, which one or several messages ask for.
type job struct {
	name string
	kind kind
	// takes is how long a run lasts, fails how many runs fail.
	takes time.Duration
	fails int
	// sent is when its first message is sent, group the group of all of them.
	sent  time.Duration
	group string
}

func (c *config) drawJob(r *rand.Rand, name string, share float64) *job {
	j := &job{
		name: name, kind: quick, fails: 1 + r.IntN(2),
		sent: evenly(r, 0, pick(r, time.Millisecond, time.Second, time.Minute)),
	}
	if s := evenly(r, 0, 20*time.Minute); c.profile == lasting && chance(r, 0.3) {
		j.sent = s // while others run, and when nothing is wrong any more
	}
	switch {
	case chance(r, share):
		j.kind = pick(r, flaky, permanent, odd, panics, poison, poison, endless, stuck, garbled, goexit, unwanted,
			bursts, keyless, spawned, fatal, moody, halts)
		switch c.profile {
		case poisoned:
			j.kind = pick(r, panics, poison, poison, endless, stuck, goexit, spawned, fatal, moody)
		case refusing:
			j.kind = pick(r, permanent, permanent, halts, halts, odd, flaky, flaky, garbled, keyless, unwanted, bursts)
		}
		if j.kind == fatal && (c.maxReceives > 30 || c.on[ordered]) {
			j.kind = poison // it would take days
		}
		if c.timeout() == 0 && (j.kind == endless || j.kind == stuck) {
			j.kind = slow // nothing ends it
		}
	case chance(r, c.slowShare()):
		j.kind = slow
	case chance(r, c.slowShare()/2):
		j.kind = deaf // of the rest
	case chance(r, 0.3):
		j.kind = pick(r, stepped, transact, later)
	}
	j.takes = between(r, time.Millisecond, 100*time.Millisecond)
	if j.kind != slow && j.kind != deaf {
		return j
	}
	least := 100 * time.Millisecond
	if c.timeout() > 0 {
		j.takes = between(r, least, c.jobTime()*49/100)
		switch {
		case c.profile != crowded:
		case j.kind == deaf:
			j.takes = evenly(r, c.jobTime()/4, c.jobTime()*49/100)
		default:
			j.takes = evenly(r, c.jobTime()/50, c.jobTime()/6)
		}
		return j
	}
	if c.profile == lasting {
		least = time.Second
	}
	j.takes = between(r, least, pick(r, time.Minute, 10*time.Minute, 2*time.Hour))
	if c.profile == lasting && chance(r, 0.3) {
		j.takes = evenly(r, 3*time.Minute, 20*time.Minute)
	}
	// A job of hours has many heartbeats if visibility timeout or lease are short: they are a
	// third of them apart.
	j.takes = min(j.takes, 25*c.visibility, 30*c.lease)
	return j
}

// slowShare is the share of healthy jobs that take their time.
func (c *config) slowShare() float64 {
	if c.profile == crowded || c.profile == lasting {
		return 0.6
	}
	return 0.3
}

func (j *job) String() string {
	return fmt.Sprintf("%s %s %v", j.name, j.kind, j.takes.Round(time.Millisecond))
}

// payload is the body of a job's messages.
type payload struct {
	ID   string `json:"id"`
	Kind kind   `json:"kind"`
	Note string `json:"note,omitempty"`
}

// kindOf is what a body asks for.
func kindOf(body string) kind {
	var p payload
	if json.Unmarshal([]byte(body), &p) != nil {
		return garbled
	}
	return p.Kind
}

// healthy reports whether the job ends well whenever it is started while what it
// depends on is up.
func (k kind) healthy() bool {
	switch k {
	case quick, slow, deaf, stepped, transact, later:
		return true
	}
	return false
}

// keyOf is the key of the job that a message with the name asks for: "j3" of "j3/2", and
// of the key "v0.j3" of the other release.
func keyOf(message string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(message, oldKeys), "/")
	return key
}

// preparer is the function under test as the processor calls it.
type preparer struct {
	process *process
	typed   handler.Handler
}

func newPreparer(p *process) *preparer {
	h := &preparer{process: p}
	h.typed = handler.JSON(func(context.Context, payload) error { return nil })
	return h
}

// Prepare implements [handler.Handler].
func (h *preparer) Prepare(ctx context.Context, m *handler.Message) (func(context.Context) error, error) {
	p, name := h.process, h.process.nameOf(m.MessageId)
	// Several messages may have the name: operators replay letters.
	if err := p.pass(ctx, "decode", name+" of "+m.Attributes["SentTimestamp"], time.Millisecond); err != nil {
		return nil, err
	}
	p.mayHang("prepare", m.MessageId)
	switch kindOf(m.Body) {
	case fatal:
		p.kill("killed by the decoding of " + name)
		return nil, errKilled
	case bursts:
		panic("bug of " + name)
	}
	if _, err := h.typed.Prepare(ctx, m); err != nil {
		return nil, err
	}
	if err := p.release.check(kindOf(m.Body)); err != nil {
		return nil, err
	}
	j := p.job(name)
	return func(ctx context.Context) error { return p.runJob(ctx, m, j, name) }, nil
}

var errPanicked = errors.New("panic or Goexit")

// runJob is the user's function.
func (p *process) runJob(ctx context.Context, m *handler.Message, j *job, name string) error {
	if p.isDead() {
		return errKilled
	}
	r := p.judge.started(ctx, p, m, j, name)
	err := errPanicked
	defer func() {
		if !p.isDead() {
			p.judge.returned(r, err)
		}
	}()
	err = p.work(ctx, r, j)
	return err
}

// moods is how many runs of a moody job end badly.
const moods = 4

func (p *process) work(ctx context.Context, r *jobRun, j *job) error {
	switch r.kind {
	case permanent:
		return fault.Permanent(errors.New("no such account"))
	case odd:
		return errors.New("odd")
	case flaky:
		if r.number <= j.fails {
			return fault.Retryable(errors.New("try again"))
		}
	case moody:
		switch {
		case r.number > moods:
		case r.number%2 == 1:
			panic("bug of " + j.name)
		default:
			return fault.Retryable(errors.New("try again"))
		}
	case panics:
		panic("bug of " + j.name)
	case goexit:
		runtime.Goexit()
	case spawned:
		handler.Go(ctx, func(context.Context) error { panic("bug of " + j.name) })
		return nil
	case stepped:
		return p.steps(ctx, j, 1+j.fails)
	case halts:
		if err := p.steps(ctx, j, 1); err != nil {
			return err
		}
		return fault.Permanent(errors.New("no such account"))
	case transact:
		err := p.transact(ctx, j)
		if err == nil && j.fails > 1 {
			return errors.New("stumbles after its commit")
		}
		return err
	case poison:
		if err := p.falters(ctx, r.name); err != nil {
			return err
		}
		p.kill("killed by " + j.name)
		return errKilled
	case endless:
		return p.sleep(ctx, 24*time.Hour, r.name)
	case stuck:
		return p.sleepDeaf(24 * time.Hour)
	case deaf:
		if err := p.sleepDeaf(j.takes); err != nil {
			return err
		}
		if down, hang := p.isDown("provider", p.now()); down && hang > 0 {
			return p.effect(ctx, j, idem.Key(ctx)) // with no answer it would be stuck
		}
		return p.effect(context.WithoutCancel(ctx), j, idem.Key(ctx))
	}
	if err := p.sleep(ctx, j.takes, r.name); err != nil {
		return err
	}
	return p.effect(ctx, j, idem.Key(ctx))
}

// falters waits for a while of its own before something that others see at once: of two
// who do it at the same moment, chance would decide who is first.
func (p *process) falters(ctx context.Context, name string) error {
	r := p.seed.at("%s falters with %s %d", p.name, name, p.count(p.name+" falters with "+name))
	return p.sleep(ctx, between(r, time.Microsecond, time.Millisecond), "falter "+name)
}

// effect calls the provider.
func (p *process) effect(ctx context.Context, j *job, key string) error {
	return p.call(ctx, "pay", j.name, func() error {
		if down, hang := p.isDown("provider", p.now()); down {
			if err := p.sleep(ctx, hang, "pay "+j.name); err != nil {
				return err
			}
			return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		}
		p.judge.paid(key, j)
		return nil
	})
}
