package backoff_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/backoff"
)

func TestJitterDrawsFromItsRange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Profile
		u       float64
		want    time.Duration
	}{
		{"additive, a quarter", backoff.Exponential{}, 0.25, 4200 * time.Millisecond},
		{"additive, seven eighths", backoff.Exponential{}, 0.875, 4700 * time.Millisecond},
		{"additive, share", backoff.Exponential{Jitter: 1}, 0.5, 6 * time.Second},
		{"additive, added to the cap", backoff.Exponential{Cap: 2 * time.Second}, 0.5, 2200 * time.Millisecond},
		{"full, begin", backoff.Exponential{JitterKind: backoff.Full}, 0, time.Second},
		{"full, middle", backoff.Exponential{JitterKind: backoff.Full}, 0.5, 2500 * time.Millisecond},
		{"equal, begin", backoff.Exponential{JitterKind: backoff.Equal}, 0, 2 * time.Second},
		{"equal, middle", backoff.Exponential{JitterKind: backoff.Equal}, 0.5, 3 * time.Second},
		{"equal, from a second", backoff.Constant{Interval: 3 * time.Second / 2, JitterKind: backoff.Equal}, 0, time.Second},
		{"stepped", backoff.Stepped{}, 0.5, 945 * time.Second},
		{"stepped, share", backoff.Stepped{Jitter: 0.5}, 0.5, 1125 * time.Second},
		{"stepped, full", backoff.Stepped{JitterKind: backoff.Full}, 0.5, 450_500 * time.Millisecond},
		{"constant", backoff.Constant{Interval: time.Minute}, 0.5, 66 * time.Second},
		{"constant, share", backoff.Constant{Interval: time.Minute, Jitter: 1}, 0.5, 90 * time.Second},
		{"constant, equal", backoff.Constant{Interval: time.Minute, JitterKind: backoff.Equal}, 0.5, 45 * time.Second},
	}
	for _, tt := range tests {
		if got := tt.profile.Delay(3, always(tt.u)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestJitterKindsHaveNames(t *testing.T) {
	t.Parallel()
	for kind, want := range map[backoff.JitterKind]string{
		backoff.Additive: "additive", backoff.Full: "full", backoff.Equal: "equal", 9: "JitterKind(9)",
	} {
		if got := kind.String(); got != want {
			t.Errorf("%d: %s, want %s", kind, got, want)
		}
	}
}

// spreading is the jitter of a generated profile, and the exact delays before
// jitter.
type spreading struct {
	kind  backoff.JitterKind
	share float64
	exact func(attempt int) time.Duration
}

// bounds returns the range from which the delay must be drawn if the exact one
// is d.
func (s spreading) bounds(d time.Duration) (least, most time.Duration) {
	switch s.kind {
	case backoff.Full:
		return time.Second, d
	case backoff.Equal:
		return max(d/2, time.Second), d
	default:
		return d, time.Duration(float64(d) * (1 + s.share))
	}
}

const longestDelay = int64(6 * time.Hour) // jitter can double it

func anyDuration(t *rapid.T, label string, least time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(int64(least), longestDelay).Draw(t, label))
}

func anyProfile(t *rapid.T) (backoff.Profile, spreading) {
	s := spreading{kind: rapid.SampledFrom([]backoff.JitterKind{
		backoff.Additive, backoff.Full, backoff.Equal,
	}).Draw(t, "kind")}
	if s.kind == backoff.Additive {
		s.share = rapid.Float64Range(1e-9, 1).Draw(t, "share")
	}
	first := anyDuration(t, "first", time.Second)
	switch rapid.SampledFrom([]string{"exponential", "stepped", "constant"}).Draw(t, "profile") {
	case "exponential":
		e := backoff.Exponential{
			Base: first, Cap: anyDuration(t, "cap", first), Factor: rapid.Float64Range(1, 1e6).Draw(t, "factor"),
			Jitter: s.share, JitterKind: s.kind,
		}
		plain := backoff.Exponential{Base: e.Base, Cap: e.Cap, Factor: e.Factor}
		s.exact = func(n int) time.Duration { return plain.Delay(n, always(0)) }
		return e, s
	case "stepped":
		second := anyDuration(t, "second", first)
		s.exact = func(n int) time.Duration {
			if n <= 1 {
				return first
			}
			return second
		}
		return backoff.Stepped{Steps: []time.Duration{first, second}, Jitter: s.share, JitterKind: s.kind}, s
	default:
		s.exact = func(int) time.Duration { return first }
		return backoff.Constant{Interval: first, Jitter: s.share, JitterKind: s.kind}, s
	}
}

func TestDelayIsWithinItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		profile, s := anyProfile(t)
		if err := profile.Validate(); err != nil {
			t.Fatal(err)
		}
		attempt := rapid.IntRange(1, 1_000).Draw(t, "attempt")
		u := rapid.Float64Range(0, almostOne).Draw(t, "u")

		exact := s.exact(attempt)
		least, most := s.bounds(exact)
		got := profile.Delay(attempt, always(u))
		if got < time.Second || got < least || got > most+1 { // one nanosecond of tolerance for float rounding
			t.Fatalf("a delay of %v became %v, want %v to %v", exact, got, least, most)
		}
		if got := profile.Delay(attempt, always(0)); got != least {
			t.Fatalf("the range of %v begins at %v, want %v", exact, got, least)
		}
		if next := profile.Delay(attempt+1, always(u)); next < got {
			t.Fatalf("the same draw shrinks from %v to %v", got, next)
		}
		if whole := backoff.WholeSeconds(got, always(u)); whole < got.Truncate(time.Second) || whole > 12*time.Hour {
			t.Fatalf("%v became %v, which is not its seconds, or too long for SQS", got, whole)
		}
	})
}

func FuzzBounds(f *testing.F) {
	f.Add(int64(time.Second), 0.2, 0.5, int64(0), uint8(0), 1)
	f.Add(int64(math.MaxInt64), 1.0, almostOne, int64(math.MaxInt64), uint8(1), math.MaxInt)
	f.Add(int64(time.Second), math.Inf(1), 0.0, int64(0), uint8(0), 1_000)
	f.Add(int64(-1), math.Inf(1), 0.0, int64(math.MinInt64), uint8(2), math.MinInt)
	f.Fuzz(func(t *testing.T, nanoseconds int64, share, u float64, since int64, kind uint8, attempt int) {
		if !(u >= 0 && u < 1) {
			t.Skip("no random source gives this")
		}
		d, sinceReceive := time.Duration(nanoseconds), time.Duration(since)
		jitter := backoff.JitterKind(kind)
		for _, profile := range []backoff.Profile{
			backoff.Exponential{Base: d, Factor: share, Jitter: share, JitterKind: jitter},
			backoff.Stepped{Steps: []time.Duration{time.Second, d}, Jitter: share, JitterKind: jitter},
			backoff.Constant{Interval: d, Jitter: share, JitterKind: jitter},
		} {
			delay := profile.Delay(attempt, always(u))
			if delay < time.Second {
				t.Errorf("%#v waits %v", profile, delay)
			}
			if profile.Validate() == nil && delay > backoff.MaxVisibility {
				t.Errorf("%#v is accepted and waits %v", profile, delay)
			}
		}
		spread := backoff.Spread(d, share, always(u))
		whole := backoff.WholeSeconds(spread, always(u))
		clamped := backoff.Clamp(whole, sinceReceive)
		if spread < max(d, 0) {
			t.Errorf("Spread shortened %v to %v", d, spread)
		}
		if whole%time.Second != 0 || whole < spread.Truncate(time.Second) || whole-spread >= time.Second {
			t.Errorf("WholeSeconds made %v of %v", whole, spread)
		}
		if clamped < 0 || clamped%time.Second != 0 || clamped > max(backoff.MaxVisibility-max(sinceReceive, 0), 0) {
			t.Errorf("Clamp made %v of %v, %v after the receive", clamped, whole, sinceReceive)
		}
	})
}
