//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dial calls the provider as a job in process 1 does, and tells what comes back.
func dial(t *testing.T, url, key string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Process", "1")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "nothing"
	}
	defer response.Body.Close()
	return response.Status
}

func TestTheProviderTakesEffectOnceForAKey(t *testing.T) {
	t.Parallel()
	jobs := []*job{
		{id: "a", answers: []answer{unavailable, cut, throttled, garbage, late}},
		{id: "b"},
	}
	p := newProvider(jobs, func(j *job) bool { return j.id == "b" })
	server := httptest.NewServer(p.handler())
	t.Cleanup(server.Close)
	var got []string
	for range 6 {
		got = append(got, dial(t, server.URL+"/effect/a", "k"))
	}
	want := []string{
		"503 Service Unavailable", "nothing", "429 Too Many Requests", "200 OK", "200 OK", "200 OK",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	dial(t, server.URL+"/effect/b", "one")
	dial(t, server.URL+"/effect/b", "two")
	dial(t, server.URL+"/effect/b", "")
	dial(t, server.URL+"/effect/b", "")
	book, answers := p.book()
	if diff := cmp.Diff(map[string]int{"k": 1}, book["a"].keys); diff != "" {
		t.Errorf("effects of a (-want +got):\n%s", diff)
	}
	// Without a key nothing tells two calls apart, so that each takes effect.
	if diff := cmp.Diff(map[string]int{"one": 1, "two": 1, "": 2}, book["b"].keys); diff != "" {
		t.Errorf("effects of b (-want +got):\n%s", diff)
	}
	if c := book["b"].calls[0]; !c.done || c.process != 1 || c.key != "one" {
		t.Errorf("call %+v, want one of process 1 after b was done", c)
	}
	if answers[fine] != 5 || total(answers) != 10 {
		t.Errorf("answers %v, want 10 of which 5 are fine", answers)
	}
}

// begin begins a run of the job a in a process, and gives what ends it.
func begin(t *testing.T, url, process string) func() {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/run/a", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Process", process)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = response.Body.Close() }
}

func TestTheProviderSeesRunsAtTheSameTime(t *testing.T) {
	t.Parallel()
	p := newProvider([]*job{{id: "a"}}, func(*job) bool { return false })
	server := httptest.NewServer(p.handler())
	t.Cleanup(server.Close)
	endFirst := begin(t, server.URL, "1")
	if diff := cmp.Diff(map[string]int{"a": 1}, p.running(1)); diff != "" {
		t.Errorf("running (-want +got):\n%s", diff)
	}
	p.mu.Lock()
	first := p.accounts["a"].runs[0]
	p.mu.Unlock()
	endFirst()
	<-first.over
	if running := p.running(1); len(running) != 0 {
		t.Errorf("%v runs in a process whose run is over", running)
	}
	second, third := &attempt{process: 2, over: make(chan struct{})}, &attempt{process: 3}
	p.compare(p.accounts["a"], third, []*attempt{first, second})
	book, _ := p.book()
	if diff := cmp.Diff([][2]int{{2, 3}}, book["a"].overlaps); diff != "" {
		t.Errorf("runs at the same time (-want +got):\n%s", diff)
	}
}

func TestAnOutageOfTheProviderIsNoMoreThanABudget(t *testing.T) {
	t.Parallel()
	p := newProvider([]*job{{id: "a"}}, func(*job) bool { return false })
	server := httptest.NewServer(p.handler())
	t.Cleanup(server.Close)
	p.outage(true)
	for n := range mostFailures {
		if got := dial(t, server.URL+"/effect/a", "k"); got != "503 Service Unavailable" {
			t.Errorf("call %d: %s, want 503", n, got)
		}
	}
	if got := dial(t, server.URL+"/effect/a", "k"); got != "200 OK" {
		t.Errorf("%s after so many failures, want 200", got)
	}
}
