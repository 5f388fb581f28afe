package worker

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/netutil"
)

// probed is a server for probes whose handler is in the test's hands.
func probed(t *testing.T, health http.HandlerFunc, change func(*http.Server)) (address string, log *lockedBuffer) {
	t.Helper()
	log = &lockedBuffer{}
	server := probeServer(health, slog.New(slog.NewJSONHandler(log, nil)))
	if change != nil {
		change(server)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(netutil.LimitListener(listener, 2)) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String(), log
}

func ok(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "ok\n") }

// lockedBuffer is written by the server while the test waits for its text.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestAProbeHoldsNoConnection(t *testing.T) {
	t.Parallel()
	server := probeServer(http.HandlerFunc(ok), slog.New(slog.DiscardHandler))
	if server.ReadTimeout <= 0 || server.WriteTimeout <= 0 || server.IdleTimeout <= 0 {
		t.Errorf("read %v, write %v, idle %v: want limits", server.ReadTimeout, server.WriteTimeout, server.IdleTimeout)
	}
	address, _ := probed(t, ok, nil)
	for range 10 { // more than the server has connections
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c) // ends when the server closes
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") || !strings.Contains(string(answer), "ok\n") {
			t.Fatalf("%q %v", answer, err)
		}
	}
}

// Those who send nothing give way after a time.
func TestSilentConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	address, _ := probed(t, ok, func(s *http.Server) { s.ReadTimeout = 50 * time.Millisecond })
	for range 2 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	answer, err := http.Get("http://" + address + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
}

func TestProbesAreNotForWebPages(t *testing.T) {
	t.Parallel()
	server := probeServer(http.HandlerFunc(ok), slog.New(slog.DiscardHandler))
	for origin, want := range map[string]int{
		"": 200, "null": 403, "https://evil.example": 403, "http://127.0.0.1:8080": 403,
	} {
		r := httptest.NewRequest("GET", "/livez", http.NoBody)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		answer := httptest.NewRecorder()
		server.Handler.ServeHTTP(answer, r)
		if answer.Code != want {
			t.Errorf("origin %q: %d, want %d", origin, answer.Code, want)
		}
	}
}

func TestErrorsOfProbesAreLinesOfTheLog(t *testing.T) {
	t.Parallel()
	address, log := probed(t, func(http.ResponseWriter, *http.Request) { panic("broken probe") }, nil)
	if answer, err := http.Get("http://" + address + "/livez"); err == nil {
		_ = answer.Body.Close()
		t.Fatal(answer.Status)
	}
	var line struct{ Level, Msg string }
	if err := json.Unmarshal([]byte(log.String()), &line); err != nil || line.Level != "WARN" ||
		!strings.Contains(line.Msg, "broken probe") {
		t.Errorf("%v: %s", err, log)
	}
}
