package system

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sqsafe/sqsafe/idem"
)

// gate is what every call to the outside passes. The call waits there before its effect
// and after it, for times that the seed draws: so they decide the order of all calls.
type gate struct{ *process }

// fate is what becomes of a call.
type fate struct {
	before, after time.Duration
	// refused fails the call without its effect, lost with it, by an error of the kind.
	refused, lost bool
	kind          failure
	// failing and hidden are entries of a batch call that fail, without their effect
	// and with it.
	failing, hidden map[string]bool
}

// failure is how a call fails.
type failure string

const (
	throttled failure = "throttled"
	broken    failure = "internal error"
	reset     failure = "connection reset"
)

// call is a call to AWS, as it is drawn and logged.
type call struct {
	operation string
	service   string
	// subjects are the messages or jobs that it is about, in their order; entries are
	// the ids of a batch call's entries.
	subjects, entries []string
	named             string
	body              map[string]json.RawMessage
	// epoch and owner are those of the claim.
	epoch int
	owner string
	// receives name the receives of the entries' messages.
	receives []string
	// arrived are the letters of which the answer says so; verdicts are what it says of each
	// entry, nil if there is no answer.
	arrived  []string
	verdicts map[string]bool
	// reason is that of a verdict, message the name of the claim's message, and lease what
	// is written.
	reason, message, messageID string
	lease                      time.Time
	// now is the time of a claim by the clock of its process.
	now time.Time
	// attempts and history are what a release writes: the budget that is used, and how many
	// runs are known.
	attempts, history int
	// timeouts are the visibility timeouts of a call that hides messages.
	timeouts []int
}

func (c *call) name() string {
	if c.named == "" {
		c.named = c.operation + " " + strings.Join(slices.Sorted(slices.Values(c.subjects)), ",")
	}
	return c.named
}

// turn tells calls apart that are made at the same moment.
func (c *call) turn(ctx context.Context) string {
	until, _ := ctx.Deadline()
	return fmt.Sprint(c.name(), c.message, " ", c.owner, c.timeouts, " until ", until.UnixNano())
}

// Do implements [aws.HTTPClient].
func (g *gate) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	response, err := g.passThrough(r, body)
	if g.isDead() || errors.Is(err, errKilled) {
		return dead(r), nil
	}
	if err != nil {
		return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: err}
	}
	return response, nil
}

func (g *gate) passThrough(r *http.Request, body []byte) (*http.Response, error) {
	if g.isDead() {
		return nil, errKilled
	}
	if g.isEndless() {
		return nil, errKilled
	}
	c := g.describe(r, body)
	g.judge.asked(g.process, c)
	g.turns.take(g.name + " " + c.turn(r.Context()))
	f := g.draw(r.Context(), c)
	err := g.sleep(r.Context(), f.before, c.name()+c.message)
	if err == nil {
		if g.passes(c.name(), "before"); g.isDead() {
			err = errKilled
		}
	}
	if err != nil {
		g.straggle(r, c, body)
		return nil, err
	}
	var response *http.Response
	switch {
	case f.refused:
		response, err = g.failed(c, f.kind, r)
	case c.operation == "receive":
		response, err = g.poll(r, c, f)
	default:
		response, err = g.perform(r, c, f, body)
	}
	if g.passes(c.name(), "after"); g.isDead() {
		return nil, errKilled
	}
	if err := g.sleep(r.Context(), f.after, c.name()+c.message); err != nil {
		return nil, err
	}
	if err == nil {
		g.judge.confirmed(g.process, c)
	}
	g.passes(c.name(), "behind")
	return response, err
}

// mostCalls is many times what a history takes.
const mostCalls = 100_000

// isEndless counts a call, and reports whether there are too many.
func (g *gate) isEndless() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	if g.calls == mostCalls {
		g.breaksLocked("calls", nil, "the history takes more than %d calls", mostCalls)
	}
	return g.calls >= mostCalls
}

// straggle lets a call that nobody waits for any more have its effect later: it was on its
// way already.
func (g *gate) straggle(r *http.Request, c *call, body []byte) {
	draws := g.seed.at("straggler %s %s %s %v", g.name, c.name(), c.message, g.now())
	if !g.on[stragglers] || g.isCalm() || c.operation == "receive" || !chance(draws, 0.5) {
		return
	}
	late := between(draws, time.Millisecond, pick(draws, time.Second, time.Minute, 10*time.Minute))
	request := r.Clone(context.WithoutCancel(r.Context()))
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	time.AfterFunc(late, func() {
		g.note(g.name, c.subjects, "%s arrives late", c.name())
		g.judge.straggling(c, true)
		response, err := g.inner.Do(request)
		g.judge.effective(g.process, c, err == nil && response.StatusCode == http.StatusOK)
		g.judge.straggling(c, false)
	})
}

// dead is what a dead process gets: an answer that no client asks for again, so that
// what is left of the process ends at once.
func dead(r *http.Request) *http.Response {
	return answer(r, http.StatusBadRequest, map[string]any{"__type": "ProcessIsDead", "message": "killed"})
}

// passes counts a passage, and kills the process where it is to die.
func (p *process) passes(what, where string) {
	p.state.Lock()
	p.state.passages++
	dies := p.killAt > 0 && p.state.passages >= p.killAt && !p.isCalm()
	p.state.Unlock()
	if dies {
		p.kill(where + " " + what)
	}
}

// pass is a call of user code that has no effect.
func (p *process) pass(ctx context.Context, what, subject string, most time.Duration) error {
	r := p.seed.at("%s %s %s %d", p.name, what, subject, p.count(p.name+" "+what+" "+subject))
	if err := p.sleep(ctx, between(r, time.Microsecond, most), what+subject); err != nil {
		return err
	}
	p.passes(what+" "+subject, "in")
	if p.isDead() {
		return errKilled
	}
	return nil
}

// call is a call of user code to something outside.
func (p *process) call(ctx context.Context, what, subject string, effect func() error) error {
	r := p.seed.at("%s %s %s %d", p.name, what, subject, p.count(p.name+" "+what+" "+subject))
	if err := p.sleep(ctx, between(r, 100*time.Microsecond, 20*time.Millisecond), what+subject); err != nil {
		return err
	}
	p.passes(what+" "+subject, "before")
	if p.isDead() {
		return errKilled
	}
	err := effect()
	p.passes(what+" "+subject, "after")
	if late := p.sleep(ctx, between(r, 10*time.Microsecond, 5*time.Millisecond), what+subject); late != nil {
		return late
	}
	return err
}

// count counts how often a name was asked for, from 0.
func (w *world) count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.asked[name]
	w.asked[name]++
	return n
}

type operationKey struct{}

// describe reads what a request is about.
func (g *gate) describe(r *http.Request, body []byte) *call {
	c := &call{}
	c.service, c.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if named, ok := r.Context().Value(operationKey{}).(*call); ok && c.service != "AmazonSQS" {
		c.operation, c.subjects, c.epoch = named.operation, named.subjects, named.epoch
		c.owner, c.reason, c.message = named.owner, named.reason, named.message
		c.messageID, c.lease, c.now = named.messageID, named.lease, named.now
		c.attempts, c.history = named.attempts, named.history
		return c
	}
	_ = json.Unmarshal(body, &c.body)
	var in struct {
		Entries []struct {
			ID                string `json:"Id"`
			ReceiptHandle     string
			VisibilityTimeout int
			MessageAttributes map[string]struct{ StringValue string }
		}
	}
	_ = json.Unmarshal(c.body["Entries"], &in.Entries)
	for _, e := range in.Entries {
		name := e.MessageAttributes[nameAttribute].StringValue
		if e.ReceiptHandle != "" {
			name = g.nameOf(messageID(e.ReceiptHandle))
			c.receives = append(c.receives, g.judge.receiveOf(e.ReceiptHandle))
		}
		c.subjects = append(c.subjects, cmp.Or(name, "?"))
		c.entries = append(c.entries, e.ID)
		c.timeouts = append(c.timeouts, e.VisibilityTimeout)
	}
	if most := c.body["MaxNumberOfMessages"]; most != nil {
		c.message = receiveName(string(most))
	}
	if name, known := operations[strings.TrimSuffix(c.operation, "Batch")]; known {
		c.operation = name
	}
	return c
}

// receiveName tells apart the loops of a worker, which ask for as many messages as they
// have slots.
func receiveName(most string) string { return " of " + most }

// operations are short names of what is called.
var operations = map[string]string{
	"SendMessage": "send", "DeleteMessage": "delete", "ChangeMessageVisibility": "hide", "ReceiveMessage": "receive",
}

// messageID is the id in a receipt handle of the emulator.
func messageID(receipt string) string {
	text, _ := base64.StdEncoding.DecodeString(receipt)
	parts := strings.Split(string(text), " ")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}

// draw draws the fate of a call.
func (g *gate) draw(ctx context.Context, c *call) fate {
	name := g.name + " " + c.name() + c.message
	if p := pollingOf(ctx); p != nil {
		name += fmt.Sprintf(" %d.%d", p.number, p.attempts.Add(1))
	}
	n := g.count(name)
	r := g.seed.at("%s %d", name, n)
	f := fate{before: between(r, 100*time.Microsecond, 15*time.Millisecond)}
	f.after = between(r, 10*time.Microsecond, 5*time.Millisecond)
	worst, refuse, lose, partial := r.Float64(), r.Float64(), r.Float64(), r.Float64()
	f.kind = pick(r, throttled, broken, reset)
	long := between(r, 20*time.Millisecond, 8*time.Second)
	if g.isCalm() {
		return f
	}
	if g.on[slowness] && worst < 0.05 {
		f.before += long
	}
	down, hang := g.isDown(g.serviceOf(c), g.now())
	switch {
	case down:
		f.before += hang
		f.refused = true
	case g.on[spells] && g.isSpell(c), g.on[refusals] && refuse < g.rate:
		f.refused = true
	case g.on[losses] && lose < g.rate:
		f.lost = true
	case g.on[spells] && g.spelled(c, &f):
	case g.on[partials] && partial < 2*g.rate && len(c.entries) > 0:
		f.failing, f.hidden = map[string]bool{}, map[string]bool{}
		for i, id := range c.entries {
			switch x := g.seed.at("%s %d entry %s", name, n, c.subjects[i]).Float64(); {
			case x < 0.25:
				f.failing[id] = true
			case x < 0.35:
				f.hidden[id] = true
			}
		}
	}
	return f
}

// spell is how long a call fails again and again at most.
const spell = 30 * time.Second

// isSpell reports whether the calls of this operation and subject fail for now. Without
// that, nearly all that fails is done by the next try of the SDK.
func (g *gate) isSpell(c *call) bool {
	name := c.name()
	if c.service != "AmazonSQS" && c.operation != idem.SettleConfirm.String() {
		name = c.subjects[0] // the item is throttled, so that it cannot be claimed either
	}
	draws := g.seed.at("spell %d of %s", g.now()/spell, name)
	return len(c.subjects) > 0 && chance(draws, 0.06)
}

// spelled takes the entries of a batch call that fail for now into its fate, and reports
// whether there are any.
func (g *gate) spelled(c *call, f *fate) bool {
	f.failing, f.hidden = map[string]bool{}, map[string]bool{}
	for i, id := range c.entries {
		draws := g.seed.at("spell %d of %s of %s", g.now()/spell, c.operation, c.subjects[i])
		f.failing[id] = chance(draws, 0.15)
	}
	maps.DeleteFunc(f.failing, func(_ string, fails bool) bool { return !fails })
	return len(f.failing) > 0
}

// serviceOf is the service that a call needs.
func (w *world) serviceOf(c *call) string {
	var queue string
	_ = json.Unmarshal(c.body["QueueUrl"], &queue)
	switch {
	case c.service != "AmazonSQS":
		return "ledger"
	case queue == w.letters:
		return "letters"
	default:
		return "queue"
	}
}

// failed is the answer to a call that fails.
func (g *gate) failed(c *call, kind failure, r *http.Request) (*http.Response, error) {
	g.note(g.name, c.subjects, "%s: %s", c.name(), kind)
	code, status := "InternalFailure", http.StatusInternalServerError
	switch kind {
	case reset:
		return nil, &net.OpError{Op: "read", Net: "memory", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case throttled:
		code, status = "ThrottlingException", http.StatusBadRequest
	}
	return answer(r, status, map[string]any{"__type": code, "message": "drawn"}), nil
}

func answer(r *http.Request, status int, body any) *http.Response {
	text, _ := json.Marshal(body)
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:          io.NopCloser(bytes.NewReader(text)),
		ContentLength: int64(len(text)), Request: r,
	}
}
