package idem_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/idem"
)

// sentIn is the header that a job of the queue sends with the scope, and that
// of a step in it.
func sentIn(t testing.TB, scope idem.Scope, queue, key string) (job, step string) {
	t.Helper()
	send := func(ctx context.Context) (sent string) {
		_, _ = idem.Transport{Scope: scope, Base: base(func(r *http.Request) {
			sent = r.Header.Get("Idempotency-Key")
		})}.RoundTrip(newRequest(ctx, http.MethodPost, "http://provider", "a"))
		return sent
	}
	runOf(t, queue, key, func(ctx context.Context) {
		job = send(ctx)
		if err := idem.Step(ctx, "mail", func(ctx context.Context) error { step = send(ctx); return nil }); err != nil {
			t.Error(err)
		}
	})
	return job, step
}

func TestTheScopeOfAKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 255)
	for _, c := range []struct {
		name       string
		scope      idem.Scope
		queue, key string
		want       string // "hash": a hash
	}{
		{"by default the queue's", idem.Transport{}.Scope, "charges", "7", "charges#7"},
		{"the queue's", idem.ScopeQueue, "charges", "7", "charges#7"},
		{"the queue's, of another queue", idem.ScopeQueue, "refunds", "7", "refunds#7"},
		{"the queue's, of a FIFO queue", idem.ScopeQueue, "charges.fifo", "7", "charges.fifo#7"},
		{"the key's", idem.ScopeKey, "charges", "7", "7"},
		{"the key's, of another queue", idem.ScopeKey, "refunds", "7", "7"},
		{"a name's", "charges", "charges", "7", "charges#7"},
		{"a name's, of a queue that was renamed", "charges", "charges.fifo", "7", "charges#7"},
		{"no queue is known", idem.ScopeQueue, "", "7", "7"},
		{"no queue is known, but a name", "charges", "", "7", "charges#7"},
		{"too long with the queue's name", idem.ScopeQueue, "charges", long, "hash"},
		{"as long as may be", idem.ScopeKey, "charges", long, long},
		{"a name that no header carries", "Zoë", "charges", "7", "hash"},
	} {
		job, step := sentIn(t, c.scope, c.queue, c.key)
		if c.want == "hash" && !hexDigits(job, 64) || c.want != "hash" && job != c.want {
			t.Errorf("%s: sent %q, want %q", c.name, job, c.want)
		}
		if fits := len(c.want)+len("#mail") <= 255 && c.want != "hash"; fits && step != c.want+"#mail" || step == job {
			t.Errorf("%s: a step sent %q, want that of the job and #mail", c.name, step)
		}
	}
}

func TestAScopeTellsApartWhatItSays(t *testing.T) {
	t.Parallel()
	queues := rapid.StringMatching(`[a-z]{1,2}|[A-Za-z0-9_-]{1,75}(\.fifo)?`)
	keys := rapid.OneOf(rapid.StringMatching(`[a-c]{1,2}|[a-b]#[a-b]`), rapid.StringN(1, 300, -1))
	scopes := rapid.SampledFrom([]idem.Scope{idem.ScopeQueue, idem.ScopeKey, "charges"})
	rapid.Check(t, func(rt *rapid.T) {
		scope := scopes.Draw(rt, "scope")
		queue, other := queues.Draw(rt, "queue"), queues.Draw(rt, "other queue")
		key, otherKey := keys.Draw(rt, "key"), keys.Draw(rt, "other key")
		sent, step := sentIn(t, scope, queue, key)
		again, _ := sentIn(t, scope, queue, key)
		another, _ := sentIn(t, scope, other, otherKey)
		same := key == otherKey && (scope != idem.ScopeQueue || queue == other)
		if sent != again || sent == step || (sent == another) != same {
			rt.Errorf("scope %q: %s %q sends %q, then %q, in a step %q, and %s %q sends %q",
				scope, queue, key, sent, again, step, other, otherKey, another)
		}
	})
}

// What a release sent, the next has to send: a provider remembers it.
func TestWhatIsSentStaysAsItIs(t *testing.T) {
	t.Parallel()
	for scope, want := range map[idem.Scope][2]string{
		idem.ScopeQueue: {"charges#ch-1", "450a156d15bdeee7195281cc7875727dec4231718dfec10f3e0c4e8148b4f34d"},
		idem.ScopeKey:   {"ch-1", "c6a12698582fc1104ea24107a2d7268145ff06ef859707729d01fd060897f067"},
		"payments":      {"payments#ch-1", "f5b0f722ffba11c6b784f6d11ff9c5f663d0e90b08c088cf2073e3026d6df845"},
	} {
		plain, _ := sentIn(t, scope, "charges", "ch-1")
		hash, _ := sentIn(t, scope, "charges", "Zoë")
		if got := [2]string{plain, hash}; got != want {
			t.Errorf("scope %q: sent %q, want %q", scope, got, want)
		}
	}
}
