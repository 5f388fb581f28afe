//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// harm is what the proxy does to a call of SQS or DynamoDB.
type harm string

// The harms. Where an answer is lost the call has taken effect.
const (
	unharmed   harm = ""
	delays     harm = "delayed"
	throttles  harm = "throttled"
	resets     harm = "reset before the effect"
	loses      harm = "answer lost after the effect"
	breaksDown harm = "outage"
)

// longestDelay is less than what the SDK and the engine wait for an answer.
const longestDelay = 1200 * time.Millisecond

// proxy stands before the servers of SQS and DynamoDB. It passes everything on until it
// is armed. It is safe for concurrent use.
type proxy struct {
	next http.Handler

	mu    sync.Mutex
	draws *rand.Rand
	armed bool
	// down says what has an outage.
	down  map[string]bool
	harms map[harm]int
	calls int
}

func newProxy(seed uint64, next http.Handler) *proxy {
	return &proxy{
		next: next, draws: rand.New(rand.NewPCG(seed, 4)), down: map[string]bool{}, harms: map[harm]int{},
	}
}

// arm begins to do harm, or ends it.
func (p *proxy) arm(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = on
}

func (p *proxy) outage(what string, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down[what] = on
}

// count tells how many calls there were, and what was done to them.
func (p *proxy) count() (calls int, harms map[harm]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, maps.Clone(p.harms)
}

// choose draws what is done to a call of the service.
func (p *proxy) choose(service string) (h harm, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	switch n := p.draws.IntN(1000); {
	case !p.armed:
	case p.down[service]:
		h = breaksDown
	case n < 30:
		h, delay = delays, between(p.draws, 20*time.Millisecond, longestDelay)
	case n < 40:
		h = throttles
	case n < 50:
		h = resets
	case n < 70:
		h = loses
	}
	if h != unharmed {
		p.harms[h]++
	}
	return h, delay
}

// ServeHTTP passes a call on, or does it harm.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	service := ofQueues
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB") {
		service = ofTable
	}
	h, delay := p.choose(service)
	switch h {
	case resets:
		breakOff(w)
		return
	case throttles:
		refuse(w, http.StatusBadRequest, throttling[service])
		return
	case breaksDown:
		refuse(w, http.StatusInternalServerError, "InternalFailure")
		return
	case loses:
		p.next.ServeHTTP(nowhere{http.Header{}}, r)
		breakOff(w)
		return
	case delays:
		if !pause(r, delay) {
			return
		}
	}
	p.next.ServeHTTP(w, r)
}

// throttling is the code with which a service throttles.
var throttling = map[string]string{
	ofQueues: "com.amazonaws.sqs#RequestThrottled",
	ofTable:  "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": "the campaign does harm"})
}

// pause waits, and reports whether the caller is still there.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// breakOff ends the connection with a reset in the place of an answer.
func breakOff(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // if that fails, the close alone leaves no answer either
	}
	_ = conn.Close()
}

// nowhere takes an answer that is lost.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n nowhere) WriteHeader(int)             {}
