package sqsafe

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/testhost"
	"github.com/sqsafe/sqsafe/queue"
)

// noQueue is a queue and a dead-letter queue that nothing reaches.
type noQueue struct {
	queue.Client
	dlq.Sender
}

// set returns a value of the type that is not its zero value.
func set(t *testing.T, of reflect.Type) reflect.Value {
	t.Helper()
	for _, candidate := range []any{
		idem.MessageID(), permanent{}, backoff.Exponential{MaxAttempts: 7}, slog.New(slog.DiscardHandler), &noQueue{},
	} {
		if v := reflect.ValueOf(candidate); of.Kind() == reflect.Interface && v.Type().Implements(of) || v.Type() == of {
			return v.Convert(of)
		}
	}
	switch of.Kind() {
	case reflect.Interface: // the ledger
		l, err := idem.New(idem.NewMemory(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return reflect.ValueOf(l).Convert(of)
	case reflect.Slice:
		return reflect.MakeSlice(of, 1, 1)
	case reflect.Map:
		return reflect.MakeMap(of)
	case reflect.Func:
		if of == reflect.TypeFor[func(*handler.Options)]() { // it is called at once
			return reflect.ValueOf(func(*handler.Options) {})
		}
		return reflect.MakeFunc(of, func([]reflect.Value) []reflect.Value { panic("called") })
	case reflect.Struct:
		v := reflect.New(of).Elem()
		for i := range of.NumField() {
			v.Field(i).Set(set(t, of.Field(i).Type))
		}
		return v
	default:
		return other(of)
	}
}

// same reports whether one value is the other, which need not be comparable.
func same(x, y reflect.Value) bool {
	switch x.Kind() {
	case reflect.Func, reflect.Map, reflect.Slice:
		return x.UnsafePointer() == y.UnsafePointer()
	case reflect.Struct:
		for i := range x.NumField() {
			if !same(x.Field(i), y.Field(i)) {
				return false
			}
		}
		return true
	default:
		return x.Equal(y)
	}
}

// Each option of the processor reaches it, whatever is added.
func TestEveryProcessorOptionIsPassedOn(t *testing.T) {
	t.Parallel()
	for f := range reflect.TypeFor[handler.Options]().Fields() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			var made handler.Options
			h := newHost(lookupIn(complete()), aws.Config{})
			h.test = &testhost.Config{
				Store: idem.NewMemory(), Made: func(_ handler.Handler, o handler.Options) { made = o },
			}
			want := set(t, f.Type)
			_, err := NewProcessorOn(h, nothing, func(o *Options) {
				o.Logger = slog.New(slog.DiscardHandler)
				reflect.ValueOf(&o.Options).Elem().FieldByIndex(f.Index).Set(want)
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := reflect.ValueOf(made).FieldByIndex(f.Index); !same(want, got) {
				t.Errorf("option %s is %v at the processor, want %v", f.Name, got, want)
			}
		})
	}
}

// As many jobs of a batch run at a time as the option says.
func TestConcurrencyThroughTheFrontDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	meet := make(chan struct{})
	p := w.processor(t, func(context.Context, job) error {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-time.After(10 * time.Second):
			return errors.New("nobody else runs")
		}
		return nil
	}, KeyField("id"), func(o *Options) { o.Concurrency = 2 })
	if response := w.handle(t, p, `{"id":"1"}`, `{"id":"2"}`); len(response.BatchItemFailures) > 0 {
		t.Errorf("failed: %v, want that both run at a time", response.BatchItemFailures)
	}
}
