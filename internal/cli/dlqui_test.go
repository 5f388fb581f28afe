package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/local"
)

// visitor is the output of the command: it gets the link, looks at the page, and then ends
// the command.
type visitor struct {
	*testing.T

	cancel context.CancelFunc
	asJSON bool
	paths  []string // those to look at; nil means those of a queue
	pages  map[string]string
	done   chan struct{}
}

func (v *visitor) Write(p []byte) (int, error) {
	go v.visit(bytes.Clone(p)) // the page is served when this has returned
	return len(p), nil
}

func (v *visitor) visit(p []byte) {
	defer close(v.done)
	defer v.cancel()
	link := strings.TrimSpace(string(p))
	if v.asJSON {
		var row struct {
			Event, URL string
			Queues     []string
			ReadOnly   bool
		}
		if err := json.Unmarshal(p, &row); err != nil || row.Event != "page" || len(row.Queues) != 1 || !row.ReadOnly {
			v.Errorf("%s, %v", p, err)
		}
		link = row.URL
	}
	base, _, _ := strings.Cut(link, "/?")
	jar, err := cookiejar.New(nil)
	if err != nil {
		v.Error(err)
	}
	client := &http.Client{Jar: jar}
	if v.paths == nil {
		v.paths = []string{"/", "/q/charges-dead"}
	}
	for _, path := range append([]string{strings.TrimPrefix(link, base)}, v.paths...) {
		r, err := http.NewRequestWithContext(v.Context(), http.MethodGet, base+path, http.NoBody)
		if err != nil {
			v.Error(err)
			return
		}
		answer, err := client.Do(r)
		if err != nil {
			v.Error(err)
			return
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			v.Errorf("%s: %s, %v", path, answer.Status, err)
		}
		v.pages[path] = string(body)
	}
}

func TestDLQUIServesThePage(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{}, {"--json", "--read-only", "charges-dead"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			s, url := served(t, "charges")
			s.Bury(`{"id":"c-1","do":"declined"}`, "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			v := &visitor{T: t, cancel: cancel, asJSON: len(flags) > 0, pages: map[string]string{}, done: make(chan struct{})}
			errs := &bytes.Buffer{}
			code := cli.Run(ctx, append([]string{"dlq", "ui", "--endpoint-sqs", url}, flags...), cli.Streams{Out: v, Err: errs})
			if code != cli.ExitOK {
				t.Errorf("exit code %d: %s", code, errs)
			}
			<-v.done
			if !strings.Contains(v.pages["/"], "charges-dead") || !strings.Contains(v.pages["/q/charges-dead"], "http.4xx") ||
				strings.Contains(v.pages["/q/charges-dead"], "Discard") != (len(flags) == 0) {
				t.Errorf("pages %v", v.pages)
			}
		})
	}
}

func TestDLQUIRefuses(t *testing.T) {
	t.Parallel()
	_, url := served(t, "charges")
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"an open address": {[]string{"--addr", "0.0.0.0:0"}, cli.ExitUsage, "others could reach it; give a loopback address"},
		"no address":      {[]string{"--addr", "4570"}, cli.ExitUsage, "it is not HOST:PORT"},
		"no such queue":   {[]string{"orders-dead"}, cli.ExitFailed, "there is no queue orders-dead"},
		"negative growth": {[]string{"--growth=-1"}, cli.ExitUsage, "--any-growth"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := &bytes.Buffer{}
			code := cli.Run(t.Context(), append([]string{"dlq", "ui", "--endpoint-sqs", url}, test.args...),
				cli.Streams{Out: io.Discard, Err: errs})
			if code != test.code || !strings.Contains(errs.String(), test.says) {
				t.Errorf("exit code %d: %s", code, errs)
			}
		})
	}
}

// noted waits for a note that begins so.
func (s *stream) noted(prefix string) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; ; i++ {
		for i >= len(s.events) {
			if s.over {
				s.t.Fatalf("the output ends without the note %s; standard error: %s", prefix, &s.err)
			}
			s.seen.Wait()
		}
		if line, found := strings.CutPrefix(s.events[i].Line, prefix); found && s.events[i].Kind == local.KindNote {
			return line
		}
	}
}

// Beside a local stack the page shows what happens there, with the log, and the function can
// be paused, by the page and by the command.
func TestLocalHasThePage(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusPaymentRequired)
	}))
	t.Cleanup(provider.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := start(ctx, t, "--jobs", jobsFile(t, goodJob), "PaymentUrl="+provider.URL)
	link, ready := s.noted("page of the stack and its dead letters: "), s.next(local.KindReady)
	dead := s.next(local.KindDead)
	mapping := func(command string) string {
		return mustRun(t, "dlq", command, "ChargeDeadLetterQueue", "--endpoint-sqs", "http://"+ready.Address)
	}
	const disabled = "ChargeFunction from ChargeQueue: disabled\njobs of ChargeQueue expire"
	if out := mapping("pause"); !strings.Contains(out, disabled) {
		t.Errorf("pause: %s", out)
	}
	s.noted("ChargeFunction stops receiving from ChargeQueue")
	const functions, letter = "/q/ChargeDeadLetterQueue/functions", "/q/ChargeDeadLetterQueue/log?id="
	v := &visitor{T: t, cancel: func() {}, pages: map[string]string{}, done: make(chan struct{})}
	v.paths = []string{"/", "/live", functions, letter + dead.DeadLetterID}
	v.visit([]byte(link))
	for path, texts := range map[string][]string{
		"/": {"ChargeDeadLetterQueue"}, "/live": {"ChargeQueue", "dead-lettered", "(rejected)", "sent</dt><dd>1<"},
		functions: {"Disabled", "Resume"}, letter + dead.DeadLetterID: {"dead: attempt 1, permanent rejected"},
	} {
		for _, text := range texts {
			if !strings.Contains(v.pages[path], text) {
				t.Errorf("%s lacks %q: %s", path, text, v.pages[path])
			}
		}
	}
	if out := mapping("resume"); !strings.Contains(out, "ChargeFunction from ChargeQueue: enabled") {
		t.Errorf("resume: %s", out)
	}
	s.noted("ChargeFunction receives again from ChargeQueue")
	cancel()
	s.end(cli.ExitOK)
}
