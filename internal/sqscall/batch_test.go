package sqscall_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/sqscall"
)

var (
	errInternal = &smithy.GenericAPIError{Code: "InternalError", Fault: smithy.FaultServer}
	errInvalid  = &smithy.GenericAPIError{Code: "ReceiptHandleIsInvalid", Fault: smithy.FaultClient}
	errSilent   = errors.New("no answer")
	errDown     = errors.New("connection refused")
)

// script says what becomes of entries, by position, in one call after the other.
// What it does not name succeeds.
type script []map[int]error

// whole is the place of the error of the call itself.
const whole = -1

func TestBatchAsksAgainForWhatSQSFailed(t *testing.T) {
	t.Parallel()
	type errs = map[int]error
	type positions = [][]int
	internal := errs{1: errInternal}
	tests := map[string]struct {
		script script
		calls  positions
		want   errs
	}{
		"all taken":         {script{}, positions{{0, 1, 2}}, nil},
		"failed once":       {script{internal}, positions{{0, 1, 2}, {1}}, nil},
		"two failed once":   {script{{0: errInternal, 2: errInternal}}, positions{{0, 1, 2}, {0, 2}}, nil},
		"failed twice":      {script{internal, internal}, positions{{0, 1, 2}, {1}, {1}}, nil},
		"failed for ever":   {script{internal, internal, internal}, positions{{0, 1, 2}, {1}, {1}}, internal},
		"refused":           {script{{1: errInvalid}}, positions{{0, 1, 2}}, errs{1: errInvalid}},
		"refused later":     {script{internal, {1: errInvalid}}, positions{{0, 1, 2}, {1}}, errs{1: errInvalid}},
		"not answered":      {script{{1: errSilent}}, positions{{0, 1, 2}}, errs{1: errSilent}},
		"call fails":        {script{{whole: errDown}}, positions{{0, 1, 2}}, errs{0: errDown, 1: errDown, 2: errDown}},
		"second call fails": {script{internal, {whole: errDown}}, positions{{0, 1, 2}, {1}}, errs{1: errDown}},
		"call fails by SQS": {
			script{{whole: errInternal}}, positions{{0, 1, 2}}, errs{0: errInternal, 1: errInternal, 2: errInternal},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var calls positions
				got := sqscall.Batch(t.Context(), []int{0, 1, 2}, func(entries []int) ([]error, error) {
					answers := make([]error, len(entries))
					calls = append(calls, entries)
					if len(calls) > len(tt.script) {
						return answers, nil
					}
					now := tt.script[len(calls)-1]
					for at, i := range entries {
						answers[at] = now[i]
					}
					return answers, now[whole]
				})
				if diff := cmp.Diff(tt.calls, calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				for i, err := range got {
					if !errors.Is(err, tt.want[i]) || (err == nil) != (tt.want[i] == nil) {
						t.Errorf("entry %d: %v, want %v", i, err, tt.want[i])
					}
				}
			})
		})
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{"0": 0, "9": 9, "10": -1, "-1": -1, "": -1, "m-1": -1} {
		if got, ok := sqscall.Position(&id, 10); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %d, %v; want %d", id, got, ok, want)
		}
	}
	if _, ok := sqscall.Position(nil, 10); ok {
		t.Error("no id is a position")
	}
}

func TestBatchOfNothingMakesNoCall(t *testing.T) {
	t.Parallel()
	errs := sqscall.Batch(t.Context(), nil, func([]int) ([]error, error) {
		t.Error("a call of no entries")
		return nil, nil
	})
	if len(errs) != 0 {
		t.Errorf("%v, want nothing", errs)
	}
}

// An entry fails for ever, and the calls are made within the time that there is.
func TestBatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		timeout, cancel time.Duration // 0: none
		calls           int
		longest         time.Duration
	}{
		"no limit":             {calls: 3, longest: 600 * time.Millisecond},
		"time for all":         {timeout: time.Second, calls: 3, longest: 600 * time.Millisecond},
		"time for one":         {timeout: 100 * time.Millisecond, calls: 1},
		"no time left":         {timeout: time.Nanosecond, calls: 1},
		"cancelled in a pause": {cancel: 50 * time.Millisecond, calls: 1, longest: 50 * time.Millisecond},
		"time for two":         {timeout: 300 * time.Millisecond, calls: 2, longest: 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.timeout > 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				start, calls := time.Now(), 0
				errs := sqscall.Batch(ctx, []int{0}, func([]int) ([]error, error) {
					calls++
					return []error{errInternal}, nil
				})
				if calls != tt.calls || !errors.Is(errs[0], errInternal) {
					t.Errorf("%d calls, error %v; want %d, %v", calls, errs[0], tt.calls, errInternal)
				}
				if took := time.Since(start); took > tt.longest || tt.longest == 0 && took > 0 {
					t.Errorf("took %v, want at most %v", took, tt.longest)
				}
			})
		})
	}
}

func ExampleBatch() {
	calls := 0
	errs := sqscall.Batch(context.Background(), []string{"a", "b", "c"}, func(entries []string) ([]error, error) {
		fmt.Println("asked for", entries)
		answers := make([]error, len(entries))
		if calls++; calls == 1 {
			answers[1] = errInternal
		}
		return answers, nil
	})
	fmt.Println(errors.Join(errs...))
	// Output:
	// asked for [a b c]
	// asked for [b]
	// <nil>
}
