package idem_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// The receiver gets the job's key, and so can tell a second attempt.
func ExampleTransport() {
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.Header.Get("Idempotency-Key"))
	}))
	defer provider.Close()

	client := &http.Client{Transport: idem.Transport{}}
	charge := func(ctx context.Context, m *handler.Message) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, provider.URL, strings.NewReader(m.Body))
		if err != nil {
			return err
		}
		resp, err := client.Do(r)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	once := idem.Middleware(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})(charge)
	fmt.Println(once(context.Background(), message("m1", `{"id":"ch-1","amount":1250}`)))
	// Output:
	// POST ch-1
	// <nil>
}

func ExampleDeduplicationID() {
	forward := func(ctx context.Context, _ *handler.Message) error {
		fmt.Println("send to the FIFO queue as", idem.DeduplicationID(ctx))
		fmt.Println("call AWS with the token", idem.ClientRequestToken(ctx))
		fmt.Println("insert with the key", idem.SQLKey(ctx, 32))
		return nil
	}
	once := idem.Middleware(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})(forward)
	fmt.Println(once(context.Background(), message("m1", `{"id":"ch-1"}`)))
	// Output:
	// send to the FIFO queue as charges#ch-1
	// call AWS with the token charges#ch-1
	// insert with the key 374d930fe231f6eb216ebc5cc1f73b07
	// <nil>
}
