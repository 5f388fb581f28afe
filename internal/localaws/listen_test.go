package localaws_test

import (
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws"
)

// TestListen serves on a TCP address until the test times out. It is for
// clients in other languages and for test suites that are run by hand:
//
//	LOCALAWS_LISTEN=127.0.0.1:4566 go test -run TestListen -timeout 1h ./internal/localaws
func TestListen(t *testing.T) {
	address := os.Getenv("LOCALAWS_LISTEN")
	if address == "" {
		t.Skip("LOCALAWS_LISTEN is not set")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: localaws.New(nil)}
	if deadline, ok := t.Deadline(); ok {
		time.AfterFunc(time.Until(deadline)-time.Second, func() { _ = server.Close() })
	}
	t.Logf("listening on http://%s", l.Addr())
	if err := server.Serve(l); err != http.ErrServerClosed {
		t.Fatal(err)
	}
}
