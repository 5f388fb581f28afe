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
	p := processor(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")}, charge)
	deliver(p, message("m1", `{"id":"ch-1","amount":1250}`))
	// Output:
	// POST charges#ch-1
	// 1 done
}

// Two queues number their jobs alike, and both reach one provider. Under the
// default scope it sees two jobs, by their keys alone one job: the second would
// be answered by what the first has done.
func ExampleTransport_severalQueues() {
	seen := map[string]bool{}
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		fmt.Printf("%s, seen before: %t\n", key, seen[key])
		seen[key] = true
	}))
	defer provider.Close()

	for _, scope := range []idem.Scope{idem.ScopeQueue, idem.ScopeKey, "payments"} {
		client := &http.Client{Transport: idem.Transport{Scope: scope}}
		charge := func(ctx context.Context, m *handler.Message) error {
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, provider.URL, strings.NewReader(m.Body))
			resp, err := client.Do(r)
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}
		p := processor(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")}, charge)
		for _, queue := range []string{"charges", "refunds"} {
			m := message("m1", `{"id":7}`)
			m.EventSourceARN = "arn:aws:sqs:eu-central-1:123456789012:" + queue
			deliver(p, m)
		}
	}
	// Output:
	// charges#7, seen before: false
	// 1 done
	// refunds#7, seen before: false
	// 1 done
	// 7, seen before: false
	// 1 done
	// 7, seen before: true
	// 1 done
	// payments#7, seen before: false
	// 1 done
	// payments#7, seen before: true
	// 1 done
}

func ExampleDeduplicationID() {
	forward := func(ctx context.Context, _ *handler.Message) error {
		fmt.Println("send to the FIFO queue as", idem.DeduplicationID(ctx))
		fmt.Println("call AWS with the token", idem.ClientRequestToken(ctx))
		fmt.Println("insert with the key", idem.SQLKey(ctx, 32))
		return nil
	}
	p := processor(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")}, forward)
	deliver(p, message("m1", `{"id":"ch-1"}`))
	// Output:
	// send to the FIFO queue as charges#ch-1
	// call AWS with the token charges#ch-1
	// insert with the key 374d930fe231f6eb216ebc5cc1f73b07
	// 1 done
}
