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

// maxBody is the maximum number of bytes that the provider reads of a request.
const maxBody = 64 << 10

var errKeyReused = errors.New("the key was used before with another body")

// Provider makes charges and sends messages. It is safe for concurrent use;
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

// New returns a provider that fails as [DefaultSchedule] says.
func New() *Provider { return NewScheduled(DefaultSchedule()) }

// NewScheduled returns a provider that fails as s says; with a nil Schedule it
// never fails. The provider reads s, so s must not be changed any more.
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

// Charges returns a copy of the charges made so far, in their order.
func (p *Provider) Charges() []Charge {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.charges)
}

// ServeHTTP answers POST /charges with 201 and the charge, or 200 and the first
// charge if the Idempotency-Key was used before; and POST /email and /sms with
// the message in the same way. It answers 422 to an invalid body and to a key
// that was used with another body, 404 to other paths, 405 to other methods,
// and with the faults of the schedule.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// If a connection is reset that was used before, an HTTP client may repeat
	// a request with an Idempotency-Key by itself. Its caller would not notice
	// the fault.
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

// perform answers a call for the customer: with the result of do, which may be
// that of an earlier call with the same key, or with the fault that applies to
// the call.
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

// countCall counts a call for the customer and returns the fault that applies
// to it.
func (p *Provider) countCall(customer string) (Fault, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[customer]++
	fault := p.schedule[customer]
	return fault, fault.applies(p.calls[customer])
}

// take makes the charge, or returns the one that was made with the same key.
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

// reset ends the connection with a TCP reset if possible, and otherwise without
// an answer.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// Unsent data is dropped and the peer gets RST instead of FIN. If that
		// fails, the close alone still leaves the caller without an answer.
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
	// A failed write means that the client has disconnected.
	_ = json.NewEncoder(w).Encode(body)
}
