package provider

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxBody bounds what the provider reads of a request, in bytes.
const maxBody = 64 << 10

var errKeyReused = errors.New("the key was used before with another body")

// Provider takes payments and sends messages. It is safe for concurrent use;
// make one with [New] or [NewScheduled].
type Provider struct {
	schedule Schedule
	mux      *http.ServeMux
	now      func() time.Time

	mu        sync.Mutex
	charges   []Charge
	byKey     map[string]int // index in charges
	messages  []Message
	sentByKey map[string]int // index in messages
	calls     map[string]int // by customer or recipient
}

// New gives a provider that misbehaves as [DefaultSchedule] says.
func New() *Provider { return NewScheduled(DefaultSchedule()) }

// NewScheduled gives a provider that misbehaves as s says; a nil Schedule
// means not at all. The provider reads s, so it must not change any more.
func NewScheduled(s Schedule) *Provider {
	p := &Provider{
		schedule:  s,
		mux:       http.NewServeMux(),
		now:       time.Now,
		byKey:     map[string]int{},
		sentByKey: map[string]int{},
		calls:     map[string]int{},
	}
	p.mux.HandleFunc("POST /charges", p.charge)
	p.mux.HandleFunc("POST /email", p.message(Email))
	p.mux.HandleFunc("POST /sms", p.message(Text))
	return p
}

// Charges gives a copy of the charges made so far, in their order.
func (p *Provider) Charges() []Charge {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.charges)
}

// ServeHTTP answers POST /charges with 201 and the charge, or 200 and the first
// charge when the Idempotency-Key was seen before; and POST /email and /sms with
// the message in the same way. It answers 422 to a body that it cannot use and
// to a key that returns with another body, 404 to other paths, 405 to other
// methods, and whatever the schedule wants.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// On a connection that was used before, an HTTP client may repeat a request
	// with an Idempotency-Key by itself after a reset, and its caller would see
	// nothing of the fault.
	w.Header().Set("Connection", "close")
	p.mux.ServeHTTP(w, r)
}

func (p *Provider) charge(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "the body cannot be read: "+err.Error())
		return
	}
	o, err := decodeOrder(body)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "the body is no charge: "+err.Error())
		return
	}
	p.perform(w, o.Customer, func() (any, bool, error) { return p.take(o, r.Header.Get("Idempotency-Key")) })
}

// perform answers a call of the customer: with what was done, new or under the
// same key before, or with the fault that the call meets.
func (p *Provider) perform(w http.ResponseWriter, customer string, do func() (done any, created bool, err error)) {
	fault, failing := p.countCall(customer)
	if failing && !fault.Reset {
		fail(w, fault)
		return
	}
	done, created, err := do()
	switch {
	case failing:
		reset(w)
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	case created:
		answer(w, http.StatusCreated, done)
	default:
		answer(w, http.StatusOK, done)
	}
}

// countCall counts a call of the customer and gives the fault that it meets.
func (p *Provider) countCall(customer string) (Fault, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[customer]++
	fault := p.schedule[customer]
	return fault, fault.applies(p.calls[customer])
}

// take makes the charge, or finds the one that was made under the key.
func (p *Provider) take(o order, key string) (c Charge, created bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, seen := p.byKey[key]; seen {
		if p.charges[i].order() != o {
			return Charge{}, false, errKeyReused
		}
		return p.charges[i], false, nil
	}
	c = Charge{Key: key, ID: o.ID, Customer: o.Customer, Amount: o.Amount, Currency: o.Currency, Time: p.now()}
	if key != "" {
		p.byKey[key] = len(p.charges)
	}
	p.charges = append(p.charges, c)
	return c, true, nil
}

func fail(w http.ResponseWriter, f Fault) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	refuse(w, f.Status, http.StatusText(f.Status))
}

// reset ends the connection with a TCP reset where it can, and with no answer
// where it cannot.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// Unsent data is dropped and the peer gets RST instead of FIN. Should
		// that fail, the close alone still leaves the caller without an answer.
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, struct {
		Error string `json:"error"`
	}{message})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(body)
}
