package bubble

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// quick finds in a tenth of a second what Run finds in ten seconds and a minute.
func quick(stuck func(stacks string)) *watch {
	return &watch{every: 10 * time.Millisecond, connection: 5, other: 10, stuck: stuck}
}

// TestAWaitForSomethingOutside names those that keep virtual time from moving.
func TestAWaitForSomethingOutside(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	channel := make(chan bool)
	tests := map[string]struct {
		// wait hangs in a bubble until the connections end, and end is called.
		wait func(*httptest.Server)
		end  func()
		want string
	}{
		"an answer that does not come": {
			wait: func(server *httptest.Server) { get(server, "/silent") },
			want: "net/http.(*persistConn).readLoop",
		},
		"a connection that is kept alive": {
			wait: func(server *httptest.Server) {
				get(server, "/")
				<-time.After(time.Hour)
			},
			want: "net/http.(*persistConn).readLoop",
		},
		"a lock that is kept over a delay": {
			wait: func(*httptest.Server) {
				lock.Lock()
				go lock.Lock()
				<-time.After(time.Hour)
			},
			end:  lock.Unlock,
			want: "sync.(*Mutex).Lock",
		},
		"a channel from outside": {
			wait: func(*httptest.Server) { <-channel },
			end:  func() { close(channel) },
			want: "[chan receive,",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			found := make(chan string, 2)
			w := quick(func(stacks string) {
				found <- stacks
				server.CloseClientConnections()
				if tt.end != nil {
					tt.end()
				}
			})
			w.run(t, func(*testing.T) { tt.wait(server) })
			if stacks := <-found; !strings.Contains(stacks, tt.want) || strings.Contains(stacks, "durable") {
				t.Errorf("stacks of those that wait outside, want only one with %q:\n%s", tt.want, stacks)
			}
		})
	}
}

// TestWorkIsNoWait lets bubbles work for several times as long as they may wait.
func TestWorkIsNoWait(t *testing.T) {
	t.Parallel()
	tests := map[string]func(server *httptest.Server, ended *atomic.Bool){
		"one computes": func(_ *httptest.Server, ended *atomic.Bool) {
			for !ended.Load() {
			}
		},
		"one computes while a connection is kept alive": func(server *httptest.Server, ended *atomic.Bool) {
			get(server, "/")
			for !ended.Load() {
			}
			server.CloseClientConnections()
		},
		"the clock moves": func(_ *httptest.Server, ended *atomic.Bool) {
			for !ended.Load() {
				<-time.After(time.Second)
			}
		},
	}
	for name, work := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			var ended atomic.Bool
			time.AfterFunc(300*time.Millisecond, func() { ended.Store(true) })
			w := quick(func(stacks string) { t.Errorf("a bubble that works is said to wait:\n%s", stacks) })
			w.run(t, func(*testing.T) { work(server, &ended) })
		})
	}
}

// TestALookAtStacks reads the text of package runtime.
func TestALookAtStacks(t *testing.T) {
	t.Parallel()
	const (
		waits   = "goroutine 5 [IO wait, synctest bubble 2]:\nnet.Read()"
		durable = "goroutine 6 [select (durable), synctest bubble 2]:\nmain.f()"
		locks   = "goroutine 7 [sync.Mutex.Lock, 2 minutes, synctest bubble 2]:\nmain.g()"
		other   = "goroutine 8 [running, synctest bubble 21]:\nmain.h()"
		none    = "goroutine 9 [running]:\nmain.h()"
		runs    = "goroutine 10 [runnable, synctest bubble 2]:\nmain.i()"
		calls   = "goroutine 11 [syscall, synctest bubble 2]:\nos.wait()"
	)
	tests := map[string]struct {
		stacks []string
		want   sight
	}{
		"all wait for each other":     {[]string{durable, none, other}, sight{all: durable}},
		"one waits for a connection":  {[]string{waits, durable}, sight{waits + "\n\n" + durable, waits, true}},
		"one waits for a lock":        {[]string{other, locks}, sight{locks, locks, false}},
		"one can run":                 {[]string{waits, runs}, sight{}},
		"one waits for the system":    {[]string{waits, calls}, sight{}},
		"none is of this bubble":      {[]string{other, none}, sight{}},
		"the text has another form":   {[]string{"no goroutine"}, sight{}},
		"a header without an end":     {[]string{"goroutine 5 [IO wait, synctest bubble 2"}, sight{}},
		"a number that is no number ": {[]string{"goroutine 5 [IO wait, synctest bubble x]:"}, sight{}},
	}
	for name, tt := range tests {
		if got := see(strings.Join(tt.stacks, "\n\n"), "2"); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func newServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// get ignores errors: the connection may be closed while it waits.
func get(server *httptest.Server, path string) {
	if response, err := server.Client().Get(server.URL + path); err == nil {
		_ = response.Body.Close()
	}
}
