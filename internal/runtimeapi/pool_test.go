package runtimeapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestProcessThatDisconnectsIsRetired checks that a process with several slots that
// disconnects gets no further invocation until it requests an event again.
func TestProcessThatDisconnectsIsRetired(t *testing.T) {
	t.Parallel()
	for slots, want := range map[string]bool{"1": false, "2": true} {
		t.Run(slots, func(t *testing.T) {
			t.Parallel()
			f, err := New(Options{
				Name: "f", Binary: "none", Environment: map[string]string{maxConcurrency: slots},
			})
			if err != nil {
				t.Fatal(err)
			}
			p, said := &process{}, make(chan bool) // receives whether the process is retired
			a := newAPI(f.options, nil, func(*invocation) {}, func(still bool) {
				f.polling(p, still)
				said <- p.retired
			})
			server := httptest.NewServer(a.handler())
			t.Cleanup(server.Close)
			ctx, hangUp := context.WithCancel(t.Context())
			ask(ctx, t, server.URL)
			if <-said {
				t.Error("retired when it asks")
			}
			hangUp()
			if got := <-said; got != want {
				t.Errorf("retired when it hangs up: %t, want %t", got, want)
			}
			again, stop := context.WithCancel(t.Context())
			ask(again, t, server.URL)
			if <-said {
				t.Error("retired although it asks again")
			}
			stop()
			<-said
		})
	}
}

func ask(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/2018-06-01/runtime/invocation/next", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if response, err := http.DefaultClient.Do(r); err == nil {
			_ = response.Body.Close()
		}
	}()
}

func TestEnterTakesTheFirstFreeSlot(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		processes []*process
		want      int // index of the process; -1 starts a new one
	}{
		"none":             {nil, -1},
		"empty":            {[]*process{{}, {}}, 0},
		"one slot taken":   {[]*process{{taken: 1}, {}}, 0},
		"full":             {[]*process{{taken: 2}, {taken: 1}}, 1},
		"retired":          {[]*process{{retired: true}, {}}, 1},
		"retired and full": {[]*process{{retired: true}, {taken: 2}}, -1},
		"all slots taken":  {[]*process{{taken: 2}, {taken: 2}}, -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := New(Options{Name: "f", Binary: "none", Environment: map[string]string{maxConcurrency: "2"}})
			if err != nil {
				t.Fatal(err)
			}
			f.processes = test.processes
			p, fresh, err := f.enter(newInvocation(context.Background(), nil))
			if test.want < 0 {
				if err == nil || p != nil {
					t.Errorf("a slot in %+v, want an attempt to start a process", p)
				}
				return
			}
			if err != nil || fresh || p != test.processes[test.want] {
				t.Fatalf("fresh %t, error %v, want a slot in process %d", fresh, err, test.want)
			}
			taken := p.taken
			if f.leave(p); p.taken != taken-1 {
				t.Errorf("%d slots taken after one left, want %d", p.taken, taken-1)
			}
		})
	}
}
