// Package tally counts what a program sends to the emulators: the calls by their names,
// the bytes, and the connections. None of these depends on the machine.
package tally

import (
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Tally counts what arrives at a server. The zero value is ready. It is safe for
// concurrent use.
type Tally struct {
	mu    sync.Mutex
	count Count
}

// Count is what has arrived.
type Count struct {
	// Calls are the numbers of calls by their names, such as UpdateItem.
	Calls map[string]int
	// Bytes are those of all requests, with their headers.
	Bytes int
	// Connections is the number of connections that were opened.
	Connections int
}

// Handler counts the calls to a server.
func (t *Tally) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.call(r)
		next.ServeHTTP(w, r)
	})
}

// Transport counts the calls of a client that has no server.
func (t *Tally) Transport(next http.RoundTripper) http.RoundTripper { return transport{next, t} }

type transport struct {
	next  http.RoundTripper
	tally *Tally
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.tally.call(r)
	return t.next.RoundTrip(r)
}

func (t *Tally) call(r *http.Request) {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	t.add(func(c *Count) {
		if c.Calls == nil {
			c.Calls = map[string]int{}
		}
		c.Calls[name]++
	})
}

// Listener counts the connections and the bytes that arrive.
func (t *Tally) Listener(l net.Listener) net.Listener { return listener{l, t} }

// Read returns what was counted since the last [Tally.Reset].
func (t *Tally) Read() Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.count
	c.Calls = maps.Clone(c.Calls)
	return c
}

// Reset counts from zero.
func (t *Tally) Reset() { t.add(func(c *Count) { *c = Count{} }) }

func (t *Tally) add(what func(*Count)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	what(&t.count)
}

type listener struct {
	net.Listener
	tally *Tally
}

func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.tally.add(func(c *Count) { c.Connections++ })
	return conn{accepted, l.tally}, nil
}

type conn struct {
	net.Conn
	tally *Tally
}

func (c conn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.tally.add(func(count *Count) { count.Bytes += n })
	return n, err
}
