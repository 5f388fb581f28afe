package idem_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/idem"
)

// tokens are those of a job: ClientRequestToken, DeduplicationID, SQLKey.
func tokens(t testing.TB, queue, key string) (all [3]string) {
	t.Helper()
	runOf(t, queue, key, func(ctx context.Context) {
		all = [...]string{idem.ClientRequestToken(ctx), idem.DeduplicationID(ctx), idem.SQLKey(ctx, 64)}
	})
	return all
}

func TestTokensNameTheQueueAndTheKey(t *testing.T) {
	t.Parallel()
	fits := strings.Repeat("x", 36-len("charges#"))
	long := strings.Repeat("x", 128-len("charges#"))
	for _, c := range []struct {
		key, request, deduplication string // "hash": a hash
	}{
		{"ch-1", "charges#ch-1", "charges#ch-1"},
		{fits, "charges#" + fits, "charges#" + fits},
		{fits + "x", "hash", "charges#" + fits + "x"},
		{long, "hash", "charges#" + long},
		{long + "x", "hash", "hash"},
		{"ch 1", "hash", "hash"},
		{"Zoë", "hash", "hash"},
		{"ch\n1", "hash", "hash"},
	} {
		got := tokens(t, "charges", c.key)
		if c.request == "hash" && !hexDigits(got[0], 36) || c.request != "hash" && got[0] != c.request {
			t.Errorf("%q: ClientRequestToken is %q, want %q", c.key, got[0], c.request)
		}
		if c.deduplication == "hash" && !hexDigits(got[1], 64) || c.deduplication != "hash" && got[1] != c.deduplication {
			t.Errorf("%q: DeduplicationID is %q, want %q", c.key, got[1], c.deduplication)
		}
	}
}

// A deploy with other hashes would repeat what the last one did.
func TestHashesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	want := [...]string{
		"450a156d15bdeee7195281cc7875727dec42",
		"450a156d15bdeee7195281cc7875727dec4231718dfec10f3e0c4e8148b4f34d",
		"450a156d15bdeee7195281cc7875727dec4231718dfec10f3e0c4e8148b4f34d",
	}
	if diff := cmp.Diff(want, tokens(t, "charges", "Zoë")); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestTokensTellJobsAndQueuesApart(t *testing.T) {
	t.Parallel()
	queues := rapid.StringMatching(`[a-z]{1,3}|[A-Za-z0-9_-]{1,75}(\.fifo)?`)
	keys := rapid.OneOf(rapid.StringMatching(`[a-c]{1,2}`), rapid.StringN(1, 200, -1))
	rapid.Check(t, func(rt *rapid.T) {
		queue, other := queues.Draw(rt, "queue"), queues.Draw(rt, "other queue")
		key, otherKey := keys.Draw(rt, "key"), keys.Draw(rt, "other key")
		got, again, another := tokens(t, queue, key), tokens(t, queue, key), tokens(t, other, otherKey)
		if got != again {
			rt.Fatalf("tokens are %q, then %q", got, again)
		}
		same := queue == other && key == otherKey
		for i, longest := range []int{36, 128, 64} {
			if (got[i] == another[i]) != same {
				rt.Errorf("%s %q has %q, and %s %q has %q", queue, key, got[i], other, otherKey, another[i])
			}
			if n := len(got[i]); n < 1 || n > longest || strings.Trim(got[i], printable[1:]) != "" {
				rt.Errorf("%q is no token of at most %d characters", got[i], longest)
			}
		}
	})
}

func TestWithoutAKeyThereAreNoTokens(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	if got := idem.ClientRequestToken(ctx) + idem.DeduplicationID(ctx) + idem.SQLKey(ctx, 64); got != "" {
		t.Errorf("tokens are %q, want none", got)
	}
}

func TestASQLKeyHasTheWidthOfItsColumn(t *testing.T) {
	t.Parallel()
	runAs(t, "ch-1", func(ctx context.Context) {
		whole := idem.SQLKey(ctx, 64)
		for n := 32; n <= 64; n++ {
			if got := idem.SQLKey(ctx, n); !hexDigits(got, n) || !strings.HasPrefix(whole, got) {
				t.Errorf("width %d: %q, want the first digits of %q", n, got, whole)
			}
		}
	})
	for _, n := range []int{-1, 0, 31, 65} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "not from 32 to 64") {
					t.Errorf("width %d: panic %q, want one that names the range", n, text)
				}
			}()
			idem.SQLKey(t.Context(), n)
		}()
	}
}

func TestEachStepPassesOnItsOwn(t *testing.T) {
	t.Parallel()
	runAs(t, "ch-1", func(ctx context.Context) {
		of := map[string]string{} // what was seen, by where
		note := func(where string) func(context.Context) error {
			return func(ctx context.Context) error {
				for _, value := range passedOn(ctx) {
					if before := of[value]; before != "" && before != where {
						t.Errorf("%s and %s pass on the same %q", before, where, value)
					}
					of[value] = where
				}
				return nil
			}
		}
		_ = note("the job")(ctx)
		for _, step := range []string{"charge", "mail"} {
			if err := idem.Step(ctx, step, note(step)); err != nil {
				t.Error(err)
			}
		}
	})
}
