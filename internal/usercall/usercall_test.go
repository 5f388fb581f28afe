package usercall_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sqsafe/sqsafe/internal/usercall"
)

var errOdd = errors.New("odd")

func explode(value any) func() error {
	return func() error { panic(value) }
}

func leave() error {
	runtime.Goexit()
	return errOdd
}

// divide panics with an error of the runtime.
func divide() error {
	zero := len("")
	_ = 1 / zero
	return nil
}

// swallow ends by runtime.Goexit while it panics.
func swallow() error {
	defer runtime.Goexit()
	panic("swallowed")
}

var calls = []struct {
	name   string
	f      func() error
	err    error
	panics bool
	goexit bool
	// value reports whether what was passed to panic is right; stack is a function
	// that the stack names.
	value func(any) bool
	stack string
}{
	{name: "returns", f: func() error { return nil }},
	{name: "fails", f: func() error { return errOdd }, err: errOdd},
	{
		name: "panics", f: explode("boom"), panics: true, stack: ".explode",
		value: func(v any) bool { return v == "boom" },
	},
	{
		name: "panics with an error", f: explode(errOdd), panics: true, stack: ".explode",
		value: func(v any) bool { return v == any(errOdd) },
	},
	{
		name: "panics with nil", f: explode(nil), panics: true, stack: ".explode",
		value: func(v any) bool { _, ok := v.(*runtime.PanicNilError); return ok },
	},
	{
		name: "divides by zero", f: divide, panics: true, stack: ".divide",
		value: func(v any) bool { _, ok := v.(runtime.Error); return ok },
	},
	{
		name: "ends its goroutine", f: leave, panics: true, goexit: true, stack: ".leave",
		value: func(v any) bool { return v == nil },
	},
	{
		name: "ends its goroutine while it panics", f: swallow, panics: true, goexit: true, stack: ".swallow",
		value: func(v any) bool { return v == nil },
	},
}

func TestCall(t *testing.T) {
	t.Parallel()
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, back, err := usercall.Call(nil, tt.f)
			if !back {
				t.Error("it was left behind")
			}
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if (p != nil) != tt.panics {
				t.Fatalf("panic %+v", p)
			}
			if p == nil {
				return
			}
			if p.Goexit != tt.goexit || !tt.value(p.Value) {
				t.Errorf("goexit %v, value %v", p.Goexit, p.Value)
			}
			if !strings.Contains(p.Stack, tt.stack) {
				t.Errorf("the stack does not name %s:\n%s", tt.stack, p.Stack)
			}
		})
	}
}

// TestCatchReportsOnce on the caller's goroutine, and returns unless that ends.
func TestCatchReportsOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reports, returned := 0, false
			over := make(chan struct{})
			go func() {
				defer close(over)
				usercall.Catch(tt.f, func(err error, p *usercall.Panic) {
					reports++
					if !errors.Is(err, tt.err) || (p != nil) != tt.panics {
						t.Errorf("error %v, panic %+v", err, p)
					}
				})
				returned = true
			}()
			<-over
			if reports != 1 || returned == tt.goexit {
				t.Errorf("%d reports, returned %v", reports, returned)
			}
		})
	}
}

func TestCallIsLeftBehind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		takes time.Duration
		end   func() error
		back  bool
		after time.Duration
	}{
		{"it returns in time", 500 * time.Millisecond, func() error { return nil }, true, 500 * time.Millisecond},
		{"it returns too late", time.Hour, func() error { return errOdd }, false, time.Second},
		{"it panics too late", time.Hour, explode("boom"), false, time.Second},
		{"it ends its goroutine too late", time.Hour, leave, false, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				left := make(chan struct{})
				time.AfterFunc(time.Second, func() { close(left) })
				start := time.Now()
				p, back, err := usercall.Call(left, func() error {
					<-time.After(tt.takes)
					return tt.end()
				})
				if err != nil || p != nil || back != tt.back {
					t.Errorf("error %v, panic %+v, back %v", err, p, back)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("came back after %v, want %v", took, tt.after)
				}
				<-time.After(2 * time.Hour) // what was left behind ends, and not the process
			})
		})
	}
}
