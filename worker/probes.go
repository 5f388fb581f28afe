package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Limits of the server for probes. A probe is one short request, after which its
// connection is closed: connections that are kept would use up the descriptors of the
// process. So a client holds one of them for probeTime at most.
const (
	probeTime       = 5 * time.Second
	maxProbes       = 64
	maxProbeHeaders = 8 << 10
)

// serve answers probes until stop is called. An empty address means no answers.
func serve(ctx context.Context, w *Worker, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("answering probes at %s %q: %w; set it to another address, or to %q",
			healthVariable, address, err, healthOff)
	}
	log := w.options.Logger
	log.Info("answering probes", "address", listener.Addr().String())
	server := probeServer(w.Health(), log)
	go func() {
		err := server.Serve(netutil.LimitListener(listener, maxProbes))
		if !errors.Is(err, http.ErrServerClosed) {
			log.Error("probes are not answered any more", "error", err.Error())
		}
	}()
	return func() { _ = server.Close() }, nil
}

// probeServer returns a server that answers what no web page sends, and writes its errors
// as lines of the worker's log.
func probeServer(health http.Handler, log *slog.Logger) *http.Server {
	server := &http.Server{
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Origin") != "" {
				http.Error(rw, "not for web pages", http.StatusForbidden)
				return
			}
			health.ServeHTTP(rw, r)
		}),
		ReadTimeout: probeTime, WriteTimeout: probeTime, IdleTimeout: probeTime, MaxHeaderBytes: maxProbeHeaders,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	server.SetKeepAlivesEnabled(false)
	return server
}
