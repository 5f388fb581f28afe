package fault_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/fault"
)

// wantRule fails the test unless the rule matches the error.
func wantRule(t *testing.T, err error, rule string) {
	t.Helper()
	wantRuleIn(t.Context(), t, err, rule)
}

// wantRuleIn is wantRule with the context of the job.
func wantRuleIn(ctx context.Context, t *testing.T, err error, rule string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error to classify")
	}
	got := fault.Classify(ctx, err)
	if got.Rule != rule || got.Class != fault.ClassRetryable {
		t.Errorf("%v (%v): %+v, want retryable by %s", err, fault.Types(err), got, rule)
	}
}

// server accepts one HTTP request on a loopback port and then ends the
// connection with end.
func server(t *testing.T, end func(*net.TCPConn) error) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = readRequest(conn)
		}
		if err == nil {
			err = end(conn.(*net.TCPConn))
		}
		served <- err
	}()
	t.Cleanup(func() {
		_ = l.Close()
		if err := <-served; err != nil {
			t.Errorf("server: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

// readRequest reads the whole request: a client that is still writing gets a
// different error.
func readRequest(conn net.Conn) error {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

func post(t *testing.T, client *http.Client, url string) error {
	t.Helper()
	resp, err := client.Post(url, "application/json", nil)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func TestConnectionResetByPeer(t *testing.T) {
	t.Parallel()
	url := server(t, func(conn *net.TCPConn) error {
		return errors.Join(conn.SetLinger(0), conn.Close())
	})
	wantRule(t, post(t, &http.Client{}, url), "net.reset")
}

func TestConnectionClosedWithoutResponse(t *testing.T) {
	t.Parallel()
	url := server(t, func(conn *net.TCPConn) error { return conn.Close() })
	wantRule(t, post(t, &http.Client{}, url), "net.eof")
}

func TestResponseCutShort(t *testing.T) {
	t.Parallel()
	url := server(t, func(conn *net.TCPConn) error {
		_, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
		return errors.Join(err, conn.Close())
	})
	resp, err := http.Post(url, "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = bufio.NewReader(resp.Body).ReadString(0)
	wantRule(t, err, "net.eof")
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	wantRule(t, post(t, &http.Client{}, closed.URL), "net.refused")
}

func TestMissingUnixSocketIsRetryable(t *testing.T) {
	t.Parallel()
	_, err := net.Dial("unix", "no-such.sock")
	if !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("dial: %v, want a missing file", err)
	}
	wantRule(t, err, "net.socket")
}

func TestClosedConnection(t *testing.T) {
	t.Parallel()
	conn, other := tcpPair(t)
	_ = other.Close()
	_ = conn.Close()
	_, err := conn.Write([]byte("x"))
	wantRule(t, err, "net.closed")
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(hung) })

	t.Run("client", func(t *testing.T) {
		t.Parallel()
		wantRule(t, post(t, &http.Client{Timeout: 10 * time.Millisecond}, slow.URL), "net.timeout")
	})
	t.Run("context of the call", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, slow.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, err = http.DefaultClient.Do(req)
		wantRule(t, err, "net.timeout")
	})
	t.Run("read deadline", func(t *testing.T) {
		t.Parallel()
		conn, _ := tcpPair(t)
		if err := conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Read(make([]byte, 1))
		wantRule(t, err, "net.timeout")
	})
}

func TestLookupWithoutNameServer(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", down.Listener.Addr().String())
	}}
	_, err := resolver.LookupHost(t.Context(), "pay.example.")
	wantRule(t, err, "dns.temporary")
}

// tcpPair is a loopback connection seen from both ends.
func tcpPair(t *testing.T) (conn, other net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if other, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = other.Close() })
	return conn, other
}
