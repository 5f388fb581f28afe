package localguard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/netutil"
)

// Options configures [Listen]. The zero value works.
type Options struct {
	// Address is HOST:PORT. The host is localhost or a loopback address, such as
	// 127.0.0.1; port 0 takes a free one. Empty means 127.0.0.1:0.
	Address string
	// ReadOnly refuses all changes.
	ReadOnly bool
}

// Guard is an open port and what its visitors must show. It is safe for concurrent use.
type Guard struct {
	listener net.Listener
	host     string // as in the link
	hosts    []string
	cookie   string // its name
	readOnly bool
	// token is in the link, session in the cookie, and csrf in each form.
	token, session, csrf string
}

// AddressError says that an address cannot be listened at.
type AddressError struct {
	Address string
	Problem string
}

// Error names the address and the remedy.
func (e *AddressError) Error() string {
	return fmt.Sprintf("address %q: %s; give a loopback address, such as 127.0.0.1:0", e.Address, e.Problem)
}

// Listen opens the port. Its errors are an [*AddressError] and those of the network.
func Listen(ctx context.Context, o Options) (*Guard, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, &AddressError{o.Address, "it is not HOST:PORT"}
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, &AddressError{o.Address, "others could reach it"}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	number := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	g := &Guard{
		listener: l, host: net.JoinHostPort(host, number), cookie: "sqsafe-" + number, readOnly: o.ReadOnly,
		token: rand.Text(), session: rand.Text(), csrf: rand.Text(),
	}
	g.hosts = []string{g.host, net.JoinHostPort("localhost", number)}
	return g, nil
}

// URL returns the link with the token, which is valid until the process ends.
func (g *Guard) URL() string { return "http://" + g.host + "/?" + tokenName + "=" + g.token }

// CSRF returns the value for the field [CSRFField] of each form that makes a change.
func (g *Guard) CSRF() string { return g.csrf }

// ReadOnly reports whether all changes are refused.
func (g *Guard) ReadOnly() bool { return g.readOnly }

// Limits of the server. A page may have to wait for a queue that is read.
const (
	headerTime     = 5 * time.Second
	readTime       = 30 * time.Second
	writeTime      = 3 * time.Minute
	idleTime       = time.Minute
	stopTime       = 5 * time.Second
	maxHeader      = 64 << 10
	maxConnections = 64
)

// Serve serves pages until ctx ends, whose end also ends requests that are under way after
// some seconds. It returns nil at the end of ctx, and else the error of the network. It
// is called once.
func (g *Guard) Serve(ctx context.Context, pages http.Handler) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler: g.Handler(pages), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	stopped := make(chan error, 1)
	keep := context.AfterFunc(ctx, func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := server.Shutdown(stopping); err != nil {
			err = server.Close()
			stopped <- err
			return
		}
		stopped <- nil
	})
	err := server.Serve(netutil.LimitListener(g.listener, maxConnections))
	if keep() { // ctx goes on
		return err
	}
	cancel()
	return errors.Join(<-stopped, unlessClosed(err))
}

func unlessClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close gives up the port of a guard that does not serve.
func (g *Guard) Close() error { return g.listener.Close() }
