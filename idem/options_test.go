package idem_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// asked delivers a message without a deadline and gives what the store was
// asked: the lease and the time to keep the job, from now on.
func asked(h *harness) (lease, keep time.Duration) {
	h.Helper()
	h.deliverIn(h.Context(), message("m1", "a"))
	r := h.requests[0]
	return r.Lease.Sub(r.Now), r.Expires.Sub(r.Now)
}

func TestOptionsZero(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		lease, keep := asked(h)
		if lease != time.Minute+2*time.Second || keep != 30*24*time.Hour {
			h.Fatalf("lease is %v, kept for %v", lease, keep)
		}
		if id := h.requests[0].ID; id != "charges#m1" {
			h.Fatalf("id is %q, want the queue's name and the message id", id)
		}
	})
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]idem.Options{
		"Lease is 500ms":                 {Lease: 500 * time.Millisecond},
		"Lease is -1m0s":                 {Lease: -time.Minute},
		"Keep is -1ns":                   {Keep: -1},
		`HashFields: path "order."`:      {Hash: idem.HashFields("id", "order.")},
		"HashFields: no path is named":   {Hash: idem.HashFields()},
		`path "" has an empty name`:      {Hash: idem.HashFields("")},
		`path "a..b" has an empty name;`: {Hash: idem.HashFields("a..b")},
	} {
		l, err := idem.New(idem.NewMemory(), &o)
		if err == nil || l != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New gave %v, %v; want an error that says %q", l, err, want)
		}
	}
}

func TestOptionsLease(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Lease = time.Second
		if lease, _ := asked(h); lease != 3*time.Second || h.runs != 1 {
			h.Fatalf("lease is %v after %d runs", lease, h.runs)
		}
	})
}

func TestADeadlineRulesTheLease(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Lease = time.Hour
		h.deliver(message("m1", "a"))
		if lease := h.requests[0].Lease.Sub(h.requests[0].Now); lease != invocationTime+2*time.Second {
			h.Fatalf("lease is %v, want the invocation and the margin", lease)
		}
	})
}

func TestOptionsKeep(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Keep = time.Hour
		if _, keep := asked(h); keep != time.Hour {
			h.Fatalf("kept for %v, want an hour", keep)
		}
		if settled := h.settlements[0].Expires; !settled.Equal(time.Now().Add(time.Hour)) {
			h.Fatalf("kept until %v, want an hour from the settlement", settled)
		}
	})
}

func TestOptionsKey(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		h.options.Key = func(_ context.Context, m *handler.Message) (string, error) { return "of " + m.Body, nil }
		asked(h)
		if id := h.requests[0].ID; id != "charges#of a" {
			h.Fatalf("id is %q", id)
		}
	})
}

func TestOptionsLogger(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		var lines bytes.Buffer
		h.options.Logger = slog.New(slog.NewJSONHandler(&lines, nil))
		h.fails(errTimeout)
		h.broken("release")
		h.deliver(message("m1", "the payload"))
		line := lines.String()
		for _, want := range []string{"claim not settled", `"messageId":"m1"`, "no such table"} {
			if !strings.Contains(line, want) {
				h.Errorf("log %q has no %s", line, want)
			}
		}
		if strings.Contains(line, "the payload") {
			h.Errorf("log %q has the payload", line)
		}
	})
}

func TestALongKeyIsHashedInTheID(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{512: len("charges#") + 512, 513: len("charges#sha256:") + 64} {
		scenario(t, func(h *harness) {
			long := strings.Repeat("k", n)
			h.options.Key = func(context.Context, *handler.Message) (string, error) { return long, nil }
			h.job = func(_ context.Context, m *handler.Message) error {
				if m.Job.Key != long {
					h.Errorf("key has %d bytes, want all %d", len(m.Job.Key), n)
				}
				return nil
			}
			asked(h)
			if got := len(h.requests[0].ID); got != want {
				h.Errorf("id has %d bytes for a key of %d, want %d", got, n, want)
			}
		})
	}
}

func TestEachClaimHasItsOwnOwner(t *testing.T) {
	t.Parallel()
	scenario(t, func(h *harness) {
		for range 3 {
			h.deliver(message("m1", "a"))
		}
		if r := h.requests; r[0].Owner == r[1].Owner || r[1].Owner == r[2].Owner || r[0].Owner == "" {
			h.Fatalf("owners are %q, %q, %q", r[0].Owner, r[1].Owner, r[2].Owner)
		}
	})
}
