package backoff_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/backoff"
)

// always is a random source that has only one number.
func always(u float64) func() float64 { return func() float64 { return u } }

// almostOne is the largest number that a random source gives.
var almostOne = math.Nextafter(1, 0)

func TestExponentialGrowsToItsCap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Exponential
		seconds []float64
	}{
		{"defaults", backoff.Exponential{}, []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}},
		{"base", backoff.Exponential{Base: 3 * time.Second}, []float64{3, 6, 12, 24}},
		{"cap", backoff.Exponential{Cap: 5 * time.Second}, []float64{1, 2, 4, 5, 5}},
		{"factor", backoff.Exponential{Factor: 1.5}, []float64{1, 1.5, 2.25, 3.375}},
		{"constant", backoff.Exponential{Factor: 1}, []float64{1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []float64
			for i := range tt.seconds {
				got = append(got, tt.profile.Delay(i+1, always(0)).Seconds())
			}
			if diff := cmp.Diff(tt.seconds, got); diff != "" {
				t.Errorf("seconds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExponentialAtItsEnds(t *testing.T) {
	t.Parallel()
	var e backoff.Exponential
	for _, attempt := range []int{math.MinInt, -1, 0} {
		if got := e.Delay(attempt, always(0)); got != time.Second {
			t.Errorf("attempt %d: %v, want that of the first", attempt, got)
		}
	}
	for _, attempt := range []int{1_000, 1_000_000, math.MaxInt} {
		if got := e.Delay(attempt, always(0)); got != 300*time.Second {
			t.Errorf("attempt %d: %v, want the cap", attempt, got)
		}
	}
}

func TestJitterIsAdded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Exponential
		u       float64
		want    time.Duration
	}{
		{"a quarter", backoff.Exponential{}, 0.25, 4200 * time.Millisecond},
		{"seven eighths", backoff.Exponential{}, 0.875, 4700 * time.Millisecond},
		{"share", backoff.Exponential{Jitter: 1}, 0.5, 6 * time.Second},
		{"on top of the cap", backoff.Exponential{Cap: 2 * time.Second}, 0.5, 2200 * time.Millisecond},
	}
	for _, tt := range tests {
		if got := tt.profile.Delay(3, always(tt.u)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	if got := (backoff.Exponential{}).Attempts(); got != 8 {
		t.Errorf("default: %d, want 8", got)
	}
	if got := (backoff.Exponential{MaxAttempts: 3}).Attempts(); got != 3 {
		t.Errorf("set: %d, want 3", got)
	}
}

func TestDefaultsOutlastTwoMinutes(t *testing.T) {
	t.Parallel()
	var (
		e     backoff.Exponential
		total time.Duration
	)
	for failure := 1; failure < e.Attempts(); failure++ {
		total += e.Delay(failure, always(0))
	}
	if total != 127*time.Second {
		t.Errorf("all retries together wait %v, want 127s", total)
	}
}

func anyProfile(t *rapid.T) backoff.Exponential {
	base := rapid.Int64Range(int64(time.Second), int64(12*time.Hour)).Draw(t, "base")
	return backoff.Exponential{
		Base:   time.Duration(base),
		Cap:    time.Duration(rapid.Int64Range(base, int64(12*time.Hour)).Draw(t, "cap")),
		Factor: rapid.Float64Range(1, 1e6).Draw(t, "factor"),
		Jitter: rapid.Float64Range(1e-9, 1).Draw(t, "jitter"),
	}
}

func TestDelayProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := anyProfile(t)
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		attempt := rapid.IntRange(1, 2_000).Draw(t, "attempt")
		u := rapid.Float64Range(0, almostOne).Draw(t, "u")

		exact := e.Delay(attempt, always(0))
		got := e.Delay(attempt, always(u))
		if exact < e.Base || exact > e.Cap {
			t.Fatalf("delay %v is outside %v to %v", exact, e.Base, e.Cap)
		}
		if most := float64(exact) * (1 + e.Jitter); got < exact || float64(got) > most {
			t.Fatalf("with jitter %v, want from %v to less than %v", got, exact, time.Duration(most))
		}
		if next := e.Delay(attempt+1, always(0)); next < exact {
			t.Fatalf("delay shrinks from %v to %v", exact, next)
		}
	})
}

func TestSpread(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		d     time.Duration
		share float64
		u     float64
		want  time.Duration
	}{
		{"adds its part", time.Minute, 0.10, 0.5, 63 * time.Second},
		{"never shortens", time.Minute, 0.10, 0, time.Minute},
		{"no share", time.Minute, 0, 0.5, time.Minute},
		{"negative share", time.Minute, -1, 0.5, time.Minute},
		{"share that is no number", time.Minute, math.NaN(), 0.5, time.Minute},
		{"no delay", 0, 0.2, 0.5, 0},
		{"negative delay", -time.Minute, 0.2, 0.5, 0},
		{"infinite share", time.Minute, math.Inf(1), 0, math.MaxInt64},
		{"saturates", math.MaxInt64 - 1, 1, almostOne, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := backoff.Spread(tt.d, tt.share, always(tt.u)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWholeSeconds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		d    time.Duration
		u    float64
		want time.Duration
	}{
		{"up within the fraction", 4200 * time.Millisecond, 0.19, 5 * time.Second},
		{"down beyond it", 4200 * time.Millisecond, 0.2, 4 * time.Second},
		{"whole stays", 4 * time.Second, 0, 4 * time.Second},
		{"below a second", 300 * time.Millisecond, 0.3, 0},
		{"nothing", 0, 0, 0},
		{"negative", -time.Millisecond, 0, 0},
		{"longest", math.MaxInt64, 0, time.Duration(math.MaxInt64).Truncate(time.Second)},
	}
	for _, tt := range tests {
		if got := backoff.WholeSeconds(tt.d, always(tt.u)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestRoundingKeepsTheMean(t *testing.T) {
	t.Parallel()
	const n = 200_000
	random := rand.New(rand.NewPCG(1, 2)).Float64
	for _, d := range []time.Duration{
		1200 * time.Millisecond, 4200 * time.Millisecond, 4700 * time.Millisecond, 63_210 * time.Millisecond,
	} {
		var sum time.Duration
		for range n {
			sum += backoff.WholeSeconds(d, random)
		}
		if ratio := float64(sum) / n / float64(d); math.Abs(ratio-1) > 0.01 {
			t.Errorf("%v: the mean is %.4f of it, want 1 ± 0.01", d, ratio)
		}
	}
}

// Jobs that fail at once must not come back at once.
func TestJobsThatFailTogetherComeBackApart(t *testing.T) {
	t.Parallel()
	const jobs = 1_000
	random := rand.New(rand.NewPCG(3, 4)).Float64
	perSecond := map[time.Duration]int{}
	for range jobs {
		perSecond[backoff.WholeSeconds(backoff.Spread(time.Minute, 0.10, random), random)]++
	}
	if len(perSecond) < 6 {
		t.Errorf("they come back in %d different seconds, want 6 or more", len(perSecond))
	}
	for at, n := range perSecond {
		if n > jobs/4 {
			t.Errorf("%d of %d come back after %v, want a quarter at most", n, jobs, at)
		}
	}
}

func TestClamp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		d, sinceReceive time.Duration
		want            time.Duration
	}{
		{"within", time.Minute, time.Second, time.Minute},
		{"fraction within", 1500 * time.Millisecond, 0, 1500 * time.Millisecond},
		{"negative", -time.Second, 0, 0},
		{"too long", 24 * time.Hour, 0, 43_195 * time.Second},
		{"counted from the receive", 24 * time.Hour, time.Minute, 43_135 * time.Second},
		{"whole at the limit", 24 * time.Hour, 1500 * time.Millisecond, 43_193 * time.Second},
		{"no time left", time.Minute, 12 * time.Hour, 0},
		{"long past", time.Minute, math.MaxInt64, 0},
		{"receive in the future", 24 * time.Hour, -time.Hour, 43_195 * time.Second},
	}
	for _, tt := range tests {
		if got := backoff.Clamp(tt.d, tt.sinceReceive); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzBounds(f *testing.F) {
	f.Add(int64(time.Second), 0.2, 0.5, int64(0))
	f.Add(int64(math.MaxInt64), 1.0, almostOne, int64(math.MaxInt64))
	f.Add(int64(time.Second), math.Inf(1), 0.0, int64(0))
	f.Add(int64(-1), math.Inf(1), 0.0, int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, nanoseconds int64, share, u float64, since int64) {
		if !(u >= 0 && u < 1) {
			t.Skip("no random source gives this")
		}
		d, sinceReceive := time.Duration(nanoseconds), time.Duration(since)
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
