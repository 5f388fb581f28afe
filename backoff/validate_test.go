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
	for _, e := range []backoff.Exponential{
		{},
		{Base: time.Second, Cap: time.Second, Factor: 1, Jitter: 1, MaxAttempts: 1},
		{Base: 10 * time.Second, Jitter: 0.0001},
	} {
		if err := e.Validate(); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile backoff.Exponential
		field   string
		value   any
	}{
		{"no attempts", backoff.Exponential{MaxAttempts: -1}, "MaxAttempts", -1},
		{"cap below base", backoff.Exponential{Base: 9 * time.Second, Cap: 8 * time.Second}, "Cap", 8 * time.Second},
		{"default cap below base", backoff.Exponential{Base: time.Hour}, "Cap", 300 * time.Second},
		{"base below a second", backoff.Exponential{Base: 999 * time.Millisecond}, "Base", 999 * time.Millisecond},
		{"negative base", backoff.Exponential{Base: -time.Second}, "Base", -time.Second},
		{"shrinking", backoff.Exponential{Factor: 0.99}, "Factor", 0.99},
		{"infinite factor", backoff.Exponential{Factor: math.Inf(1)}, "Factor", math.Inf(1)},
		{"negative jitter", backoff.Exponential{Jitter: -0.1}, "Jitter", -0.1},
		{"too much jitter", backoff.Exponential{Jitter: 1.01}, "Jitter", 1.01},
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
	for _, e := range []backoff.Exponential{{Factor: math.NaN()}, {Jitter: math.NaN()}} {
		if e.Validate() == nil {
			t.Errorf("%+v is accepted", e)
		}
	}
}

func TestValidateNamesEveryField(t *testing.T) {
	t.Parallel()
	err := backoff.Exponential{Base: time.Millisecond, Cap: time.Microsecond, Factor: 0.5, Jitter: 2, MaxAttempts: -3}.
		Validate()
	want := `backoff: Base is 1ms: SQS counts whole seconds, and a retry at once is a second attack; set at least 1s
backoff: Cap is 1µs: it is below Base, 1ms; raise Cap or lower Base
backoff: Factor is 0.5: delays must not shrink, and must grow by a finite factor; set 1 or more, 2 is usual
backoff: Jitter is 2: it is a share above 0 and at most 1; set 0.1 to 0.2, or up to 1 for an even spread
backoff: MaxAttempts is -3: a job runs at least once; set 1 or more`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
