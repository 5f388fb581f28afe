package backoff_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
)

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	for _, profile := range []backoff.Profile{
		backoff.Exponential{},
		backoff.Exponential{Base: time.Second, Cap: time.Second, Factor: 1, Jitter: 1, MaxAttempts: 1},
		backoff.Exponential{Base: 10 * time.Second, Jitter: 0.0001, MaxAttempts: 1_000},
		backoff.Exponential{Cap: 10 * time.Hour},
		backoff.Exponential{Cap: 12 * time.Hour, JitterKind: backoff.Full},
		backoff.Stepped{},
		backoff.Stepped{Steps: []time.Duration{time.Second, time.Second, 6 * time.Hour}, Jitter: 1},
		backoff.Stepped{JitterKind: backoff.Equal, MaxAttempts: 2},
		backoff.Constant{Interval: time.Second},
		backoff.Constant{Interval: 12 * time.Hour, JitterKind: backoff.Equal, MaxAttempts: 1},
	} {
		if err := profile.Validate(); err != nil {
			t.Errorf("%#v: %v", profile, err)
		}
	}
}

func TestValidateRefusesInvalidFields(t *testing.T) {
	t.Parallel()
	const tooLong = 11 * time.Hour // too long once 20 % of jitter is added
	tests := []struct {
		name    string
		profile backoff.Profile
		field   string
		value   any
	}{
		{"no attempts", backoff.Exponential{MaxAttempts: -1}, "MaxAttempts", -1},
		{"more attempts than receives", backoff.Exponential{MaxAttempts: 1_001}, "MaxAttempts", 1_001},
		{"unbounded", backoff.Exponential{MaxAttempts: math.MaxInt}, "MaxAttempts", math.MaxInt},
		{"cap below base", backoff.Exponential{Base: 9 * time.Second, Cap: 8 * time.Second}, "Cap", 8 * time.Second},
		{"default cap below base", backoff.Exponential{Base: time.Hour}, "Cap", 300 * time.Second},
		{"cap too long", backoff.Exponential{Cap: tooLong}, "Cap", tooLong},
		{"base below a second", backoff.Exponential{Base: 999 * time.Millisecond}, "Base", 999 * time.Millisecond},
		{"negative base", backoff.Exponential{Base: -time.Second}, "Base", -time.Second},
		{"shrinking", backoff.Exponential{Factor: 0.99}, "Factor", 0.99},
		{"infinite factor", backoff.Exponential{Factor: math.Inf(1)}, "Factor", math.Inf(1)},
		{"negative jitter", backoff.Exponential{Jitter: -0.1}, "Jitter", -0.1},
		{"too much jitter", backoff.Exponential{Jitter: 1.01}, "Jitter", 1.01},
		{"jitter that the kind does not use", backoff.Exponential{Jitter: 0.2, JitterKind: backoff.Full}, "Jitter", 0.2},
		{"unknown kind", backoff.Exponential{JitterKind: 3}, "JitterKind", backoff.JitterKind(3)},
		{"step below a second", backoff.Stepped{Steps: []time.Duration{0}}, "Steps[0]", time.Duration(0)},
		{
			"step shorter than the one before",
			backoff.Stepped{Steps: []time.Duration{time.Minute, time.Hour, time.Second}}, "Steps[2]", time.Second,
		},
		{"step too long", backoff.Stepped{Steps: []time.Duration{1 << 62}}, "Steps[0]", time.Duration(1 << 62)},
		{"too much jitter on steps", backoff.Stepped{Jitter: 2}, "Jitter", 2.0},
		{"no attempts of steps", backoff.Stepped{MaxAttempts: -1}, "MaxAttempts", -1},
		{"no interval", backoff.Constant{}, "Interval", time.Duration(0)},
		{"interval too long", backoff.Constant{Interval: tooLong}, "Interval", tooLong},
		{"jitter on an interval", backoff.Constant{Interval: time.Hour, Jitter: -1}, "Jitter", -1.0},
		{"attempts of an interval", backoff.Constant{Interval: time.Hour, MaxAttempts: 1_001}, "MaxAttempts", 1_001},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.profile.Validate()
			got, ok := errors.AsType[*backoff.FieldError](err)
			if !ok {
				t.Fatalf("got %v, want a FieldError", err)
			}
			if got.Field != tt.field || got.Value != tt.value {
				t.Errorf("refuses %s = %v, want %s = %v", got.Field, got.Value, tt.field, tt.value)
			}
		})
	}
}

func TestValidateRefusesWhatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, profile := range []backoff.Profile{
		backoff.Exponential{Factor: math.NaN()},
		backoff.Exponential{Jitter: math.NaN()},
		backoff.Stepped{Jitter: math.NaN()},
		backoff.Constant{Interval: time.Minute, Jitter: math.NaN()},
	} {
		if profile.Validate() == nil {
			t.Errorf("%#v is accepted", profile)
		}
	}
}

func TestValidateNamesEveryField(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Profile
		want    string
	}{
		{
			"exponential",
			backoff.Exponential{
				Base: time.Millisecond, Cap: time.Microsecond, Factor: 0.5, Jitter: 2, MaxAttempts: -3,
			},
			`backoff: Base is 1ms: SQS counts whole seconds, and a retry at once is a second attack; set at least 1s
backoff: Cap is 1µs: it is below Base, 1ms; raise Cap or lower Base
backoff: Factor is 0.5: delays must not shrink, and must grow by a finite factor; set 1 or more, 2 is usual
backoff: Jitter is 2: it is a share above 0 and at most 1; set 0.1 to 0.2, or up to 1 for an even spread
backoff: MaxAttempts is -3: a job runs at least once; set 1 or more`,
		},
		{
			"stepped",
			backoff.Stepped{Steps: []time.Duration{13 * time.Hour, 0}, JitterKind: 5, MaxAttempts: 5_000},
			`backoff: Steps[0] is 13h0m0s: with jitter it is up to 13h0m0s, and SQS hides a message for 12h0m0s at most; ` +
				`set less, or less jitter
backoff: Steps[1] is 0s: SQS counts whole seconds, and a retry at once is a second attack; set at least 1s
backoff: Steps[1] is 0s: it is shorter than the step before, 13h0m0s; let steps grow or stay
backoff: JitterKind is JitterKind(5): there is no such kind; set Additive, Full or Equal
backoff: MaxAttempts is 5000: a queue hands out a message 1,000 times at most before it moves it; set 1000 or less`,
		},
		{
			"constant",
			backoff.Constant{Jitter: 0.3, JitterKind: backoff.Equal},
			`backoff: Interval is 0s: SQS counts whole seconds, and a retry at once is a second attack; set at least 1s
backoff: Jitter is 0.3: jitter of the kind equal has a range of its own; leave Jitter 0`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.profile.Validate().Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
