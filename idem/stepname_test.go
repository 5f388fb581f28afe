package idem_test

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
)

// names runs a step of each name in one job that fails, and gives the keys within
// the steps.
func names(h *harness, names ...string) []string {
	h.Helper()
	var keys []string
	h.job = func(ctx context.Context, _ *handler.Message) error {
		for _, name := range names {
			err := idem.Step(ctx, name, func(ctx context.Context) error {
				keys = append(keys, strings.TrimPrefix(idem.Key(ctx), "m1#"))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return errTimeout
	}
	runs := h.runs + 1
	h.want(h.deliver(message("m1", "a")), handler.OutcomeRetry, "provider", runs)
	return keys
}

func TestAPlainNameIsRecordedAsItIs(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		plain := []string{"charge", "charge-1250.v2_A", "-", "0", strings.Repeat("x", 64)}
		if keys := names(h, plain...); !slices.Equal(keys, plain) {
			h.Errorf("the keys end with %q, want the names %q", keys, plain)
		}
		if !slices.Contains(h.calls, "step charge-1250.v2_A") {
			h.Errorf("the store was called with %q", h.calls)
		}
	})
}

// TestAnyOtherNameIsRecordedByItsHash has the recorded names in full: a later
// version that gave others would run steps again.
func TestAnyOtherNameIsRecordedByItsHash(t *testing.T) {
	t.Parallel()
	recorded := map[string]string{
		"cat.png@01":              "cat.png_01~3617e77e1d1ce16516edb156a66d1e7d",
		"photos/2026/cat 1.png":   "photos_2026_cat_1.png~eb40af00e818b0f6d837a3df86345044",
		"a#b":                     "a_b~8187fc8f7f007036dffc199544b33167",
		"zoë":                     "zo_~2752b88686847fa5c86f47b94ce652b7",
		"a\n":                     "a_~87428fc522803d31065e7bce3cf03fe4",
		"\xff":                    "_~a8100ae6aa1940d0b663bb31cd466142",
		"~":                       "_~7ace431cb61584cb9b8dc7ec08cf38ac",
		strings.Repeat("x", 65):   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~9537c5fdf120482f7d58d25e9ed583f5",
		strings.Repeat("x", 2000): "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~5c0e0ea421571c300b5df6aec0a118b5",
		strings.Repeat("ü", 40):   "________________~bdf9bfe506709879f19c108436c04e86",
	}
	stepped(t, func(h *harness) {
		keys := names(h, slices.Collect(maps.Keys(recorded))...)
		if diff := cmp.Diff(slices.Sorted(maps.Values(recorded)), slices.Sorted(slices.Values(keys))); diff != "" {
			h.Errorf("recorded names (-want +got):\n%s", diff)
		}
	})
}

func TestAHashedStepIsNotRunAgain(t *testing.T) {
	t.Parallel()
	stepped(t, func(h *harness) {
		const name, other = "cat.png@01", "cat.png#01"
		first := names(h, name, other)
		pass(time.Hour)
		again := names(h, name, other)
		if len(first) != 2 || first[0] == first[1] || len(again) != 0 {
			h.Errorf("ran %q, and then %q; want two of their own, and none again", first, again)
		}
		pass(time.Hour)
		if taken := names(h, first...); len(taken) != 2 || taken[0] == first[0] {
			h.Errorf("steps that are called like the recorded names ran as %q", taken)
		}
	})
}

func TestRecordedNamesAreKeysAndTheirOwn(t *testing.T) {
	t.Parallel()
	safe := regexp.MustCompile(`^[A-Za-z0-9._-]+(~[0-9a-f]{32})?$|^~[0-9a-f]{32}$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z./@~]{1,70}`)).Draw(t, "name")
		other := rapid.OneOf(rapid.Just(name+"/"), rapid.StringMatching(`[a-z./@~]{1,70}`)).Draw(t, "other")
		recorded := idem.RecordedName(name)
		if len(recorded) > 64 || name != "" && !safe.MatchString(recorded) {
			t.Fatalf("%q is recorded as %q", name, recorded)
		}
		if name != other && recorded == idem.RecordedName(other) {
			t.Fatalf("%q and %q are both recorded as %q", name, other, recorded)
		}
	})
}
