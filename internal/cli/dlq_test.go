package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/localaws"
)

// served returns a stack that a command reaches at the URL.
func served(t *testing.T, source string) (s *letterstest.Stack, url string) {
	t.Helper()
	server := localaws.New(nil)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	return letterstest.On(t, server, endpoint.Config(web.URL), source), web.URL
}

// watcher ends the command after it has seen a text so often.
type watcher struct {
	bytes.Buffer
	text   string
	times  int
	cancel context.CancelFunc
}

func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Count(w.String(), w.text) >= w.times {
		w.cancel()
	}
	return n, err
}

func TestDLQListWatches(t *testing.T) {
	t.Parallel()
	s, url := served(t, "charges")
	s.Bury(`{"id":"c-1","do":"declined"}`, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watcher{text: "1 dead letter in 1 group", times: 2, cancel: cancel}, &bytes.Buffer{}
	code := cli.Run(ctx, []string{"dlq", "list", s.Dead, "--watch", "--interval", "1s", "--endpoint-sqs", url},
		cli.Streams{Out: out, Err: errs})
	if code != cli.ExitOK || out.Len() == 0 || errs.Len() > 0 {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// fakeLambda has one mapping, which takes one look to change its state.
type fakeLambda struct {
	mu    sync.Mutex
	arn   string
	state string
	next  string
}

func (f *fakeLambda) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("EventSourceArn") == f.arn:
		fmt.Fprintf(w, `{"EventSourceMappings":[%s]}`, f.json())
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/u-1"):
		f.state = f.next
		fmt.Fprint(w, f.json())
	case r.Method == http.MethodPut:
		var in struct{ Enabled bool }
		_ = json.NewDecoder(r.Body).Decode(&in)
		f.state, f.next = "Disabling", "Disabled"
		if in.Enabled {
			f.state, f.next = "Enabling", "Enabled"
		}
		fmt.Fprint(w, f.json())
	default:
		fmt.Fprint(w, `{"EventSourceMappings":[]}`)
	}
}

func (f *fakeLambda) json() string {
	return fmt.Sprintf(`{"UUID":"u-1","State":%q,"EventSourceArn":%q,`+
		`"FunctionArn":"arn:aws:lambda:us-east-1:000000000000:function:charge:live"}`, f.state, f.arn)
}

func TestDLQPauseAndResume(t *testing.T) {
	t.Parallel()
	s, url := served(t, "charges")
	fake := &fakeLambda{arn: s.ARN("charges"), state: "Enabled"}
	web := httptest.NewServer(fake)
	t.Cleanup(web.Close)
	run := func(args ...string) (int, string, string) {
		out, errs := &bytes.Buffer{}, &bytes.Buffer{}
		code := cli.Run(t.Context(), append(args, "--endpoint-sqs", url, "--endpoint-lambda", web.URL),
			cli.Streams{Out: out, Err: errs})
		return code, out.String(), errs.String()
	}
	const paused = "u-1 of charge:live from charges: disabled\njobs of charges expire 4 d 0 h after they were sent"
	const enabled = `{"event":"mapping","queue":"charges","uuid":"u-1","function":"charge:live","state":"Enabled"`
	code, out, errs := run("dlq", "pause", s.Dead, "--why", "provider is down")
	if code != cli.ExitOK || fake.state != "Disabled" ||
		!strings.HasPrefix(out, paused) ||
		!strings.Contains(errs, `"audit":"dlq pause"`) {
		t.Errorf("pause: %d, %s%s, state %s", code, out, errs, fake.state)
	}
	code, out, errs = run("dlq", "resume", s.Source, "--json")
	if code != cli.ExitOK || fake.state != "Enabled" ||
		!strings.HasPrefix(out, enabled) {
		t.Errorf("resume: %d, %s%s, state %s", code, out, errs, fake.state)
	}
	fake.arn = "another"
	if code, _, errs = run("dlq", "pause", s.Dead); code != cli.ExitFailed ||
		!strings.Contains(errs, "no event source mapping receives from the source queues of charges-dead") {
		t.Errorf("without a mapping: %d, %s", code, errs)
	}
}

// aged is a stack beside which something tells the ages of messages and has a mapping, as a
// local stack does.
func aged(t *testing.T, ages map[string]time.Duration) (s *letterstest.Stack, url string, fake *fakeLambda) {
	t.Helper()
	server := localaws.New(nil)
	fake = &fakeLambda{state: "Enabled"}
	mux := http.NewServeMux()
	mux.Handle("/", server)
	mux.Handle("/2015-03-31/", fake)
	mux.HandleFunc("GET /_sqsafe/ages", func(w http.ResponseWriter, _ *http.Request) {
		all := map[string]any{}
		for name, age := range ages {
			all[name] = time.Now().Add(-age)
		}
		_ = json.NewEncoder(w).Encode(all)
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s = letterstest.On(t, server, endpoint.Config(web.URL), "charges")
	fake.arn = s.ARN("charges")
	return s, web.URL, fake
}

// A replay stops while the source queue is behind, and while nobody receives from it.
func TestDLQReplayStopsForTheSource(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		age   time.Duration
		flags []string
		state string
		code  int
		says  string
	}{
		"too old": {
			2 * time.Hour, []string{"--stop-age", "1h"}, "Enabled", cli.ExitStopped,
			"stopped: the oldest message of charges is 2 h 0 min old",
		},
		"young":     {30 * time.Minute, []string{"--stop-age", "1h"}, "Enabled", cli.ExitOK, ""},
		"not asked": {2 * time.Hour, nil, "Enabled", cli.ExitOK, ""},
		"empty":     {0, []string{"--stop-age", "1h"}, "Enabled", cli.ExitOK, ""},
		"paused": {
			0, nil, "Disabled", cli.ExitStopped, "stopped: the function of charges is paused; sqsafe dlq resume starts it",
		},
		"being paused": {0, nil, "Disabling", cli.ExitStopped, "is paused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ages := map[string]time.Duration{}
			if tt.age > 0 {
				ages["charges"] = tt.age
			}
			s, url, fake := aged(t, ages)
			fake.state, fake.next = tt.state, tt.state
			s.Bury(`{"id":"c-1","do":"declined"}`, "")
			out, errs := &bytes.Buffer{}, &bytes.Buffer{}
			code := cli.Run(t.Context(), append([]string{
				"dlq", "replay", s.Dead, "--yes", "--journal", t.TempDir(), "--endpoint-sqs", url,
			}, tt.flags...), cli.Streams{Out: out, Err: errs})
			if code != tt.code || !strings.Contains(errs.String(), tt.says) {
				t.Errorf("exit code %d, %s%s", code, out, errs)
			}
		})
	}
}

// While another replay is under way, nothing is sent, even if it has hidden all letters, and a
// plan says so.
func TestDLQReplayIsAlone(t *testing.T) {
	t.Parallel()
	s, url := served(t, "charges")
	s.Bury(`{"id":"c-1","do":"declined"}`, "")
	tags := map[string]string{"sqsafe:replay": fmt.Sprint("run-1 ", time.Now().Add(time.Minute).Unix(), " bob@desk")}
	if _, err := s.SQS.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: &s.DeadURL, Tags: tags}); err != nil {
		t.Fatal(err)
	}
	s.Receive(s.DeadURL, s.Dead) // the other one holds the letter
	for _, yes := range []bool{false, true} {
		args := []string{"dlq", "replay", s.Dead, "--journal", t.TempDir(), "--endpoint-sqs", url}
		want, says := cli.ExitOK, "no dead letter in charges-dead is to be seen now\nabout 1 letter is hidden"
		if yes {
			args, want, says = append(args, "--yes"), cli.ExitFailed, ""
		}
		out, errs := &bytes.Buffer{}, &bytes.Buffer{}
		code := cli.Run(t.Context(), args, cli.Streams{Out: out, Err: errs})
		if code != want || !strings.HasPrefix(out.String(), says) ||
			!strings.Contains(errs.String(), "replay run-1 of this queue is under way, by bob@desk") {
			t.Errorf("exit code %d, %s%s", code, out, errs)
		}
	}
}

// The command that pauses says when the first job expires: four days after it came.
func TestDLQPauseSaysWhenTheFirstJobExpires(t *testing.T) {
	t.Parallel()
	s, url, _ := aged(t, map[string]time.Duration{"charges": 25*time.Hour + 30*time.Minute})
	out, errs := &bytes.Buffer{}, &bytes.Buffer{}
	code := cli.Run(t.Context(), []string{"dlq", "pause", s.Dead, "--endpoint-sqs", url}, cli.Streams{Out: out, Err: errs})
	if code != cli.ExitOK || !strings.Contains(out.String(), "the first job of charges expires ") ||
		!strings.Contains(out.String(), ", in 2 d 22 h") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// workOn lets the function work beside a command, until what it returns is called.
func workOn(s *letterstest.Stack) (stop func()) {
	ended := make(chan struct{})
	var works sync.WaitGroup
	works.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				s.Work()
			}
		}
	})
	return func() { close(ended); works.Wait() }
}

// A canary whose job ends well lets the rest go, and --track follows all to their outcome,
// while the function works.
func TestDLQReplayTracks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mended bool
		code   int
		says   []string
		err    string
	}{
		"done": {true, cli.ExitOK, []string{"sent back 3 of 3 dead letters", "3 of 3 jobs are done"}, ""},
		"dead again": {
			false, cli.ExitStopped,
			[]string{"sent back 1 of 3 dead letters", "0 of 1 job is done", "│ dead again │ permanent rejected │"},
			"stopped: 1 of 1 job is dead again; letters: 2 not tried; --resume carries on",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, url := served(t, "charges")
			for i := range 3 {
				s.Bury(fmt.Sprintf(`{"id":"c-%d","do":"declined"}`, i), "")
			}
			s.Mended = tt.mended
			stopWork := workOn(s)
			out, errs := &bytes.Buffer{}, &bytes.Buffer{}
			code := cli.Run(t.Context(), []string{
				"dlq", "replay", s.Dead, "--yes", "--rate", "0", "--canary", "1", "--any-growth", "--track",
				"--journal", t.TempDir(), "--endpoint-sqs", url,
			}, cli.Streams{Out: out, Err: errs})
			stopWork()
			for _, text := range tt.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("output %s, want %s", out, text)
				}
			}
			if code != tt.code || !strings.Contains(errs.String(), tt.err) {
				t.Errorf("exit code %d, %s", code, errs)
			}
		})
	}
}

// The log is asked for the ids of the message and its invocations, in the time in which the
// job failed.
func TestDLQShowReadsTheLog(t *testing.T) {
	t.Parallel()
	s, url := served(t, "charges")
	s.Bury(`{"id":"c-1","do":"declined"}`, "")
	var asked struct {
		LogGroupName, FilterPattern string
		StartTime, EndTime          int64
	}
	logs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&asked)
		fmt.Fprint(w, `{"events":[{"timestamp":1796062547326,"message":"second\n"},`+
			`{"timestamp":1796062547000,"message":"first"}]}`)
	}))
	t.Cleanup(logs.Close)
	for _, args := range [][]string{nil, {"--json"}} {
		out, errs := &bytes.Buffer{}, &bytes.Buffer{}
		code := cli.Run(t.Context(), append([]string{
			"dlq", "show", s.Dead, "c-1", "--logs", "--endpoint-sqs", url, "--endpoint-logs", logs.URL,
		}, args...), cli.Streams{Out: out, Err: errs})
		text := out.String()
		if first := strings.Index(text, "first"); code != cli.ExitOK || first < 0 || strings.Index(text, "second") < first {
			t.Errorf("exit code %d, %s%s", code, out, errs)
		}
	}
	minutes := time.Duration(asked.EndTime-asked.StartTime) * time.Millisecond
	if asked.LogGroupName != "/aws/lambda/charge" || strings.Count(asked.FilterPattern, `?"`) != 2 ||
		minutes < 4*time.Minute || minutes > 5*time.Minute {
		t.Errorf("asked %+v", asked)
	}
	logs.Close()
	out, errs := &bytes.Buffer{}, &bytes.Buffer{}
	code := cli.Run(t.Context(), []string{
		"dlq", "show", s.Dead, "c-1", "--logs", "--endpoint-sqs", url, "--endpoint-logs", logs.URL,
	}, cli.Streams{Out: out, Err: errs})
	if code != cli.ExitOK || !strings.Contains(errs.String(), "the log cannot be read: nothing listens at") {
		t.Errorf("without logs: %d, %s", code, errs)
	}
}

// Without a canary, too, a replay stops when its jobs are dead again.
func TestDLQReplayStopsWhenJobsAreDeadAgain(t *testing.T) {
	t.Parallel()
	s, url := served(t, "charges")
	for i := range 200 {
		s.Send(s.SourceURL, fmt.Sprintf(`{"id":"c-%d","do":"declined"}`, i), "", nil)
	}
	s.Work()
	stopWork := workOn(s)
	out, errs := &bytes.Buffer{}, &bytes.Buffer{}
	code := cli.Run(t.Context(), []string{
		"dlq", "replay", s.Dead, "--yes", "--rate", "15", "--journal", t.TempDir(), "--endpoint-sqs", url,
	}, cli.Streams{Out: out, Err: errs})
	stopWork()
	if code != cli.ExitStopped || !strings.Contains(errs.String(), "sqsafe: stopped: ") ||
		!strings.Contains(errs.String(), "not tried; --resume carries on") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

// A signal ends a replay between two letters: nothing stays hidden, and the rest can be
// sent later.
func TestDLQReplayIsInterrupted(t *testing.T) {
	t.Parallel()
	s, url := served(t, "charges")
	for i := range 20 {
		s.Send(s.DeadURL, fmt.Sprintf(`{"id":"c-%d"}`, i), "", nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watcher{text: `"event":"replayed"`, times: 3, cancel: cancel}, &bytes.Buffer{}
	dir := t.TempDir()
	code := cli.Run(ctx, []string{
		"dlq", "replay", s.Dead, "--yes", "--json", "--rate", "5", "--journal", dir, "--endpoint-sqs", url,
	}, cli.Streams{Out: out, Err: errs})
	sent, left := len(s.Drain(s.SourceURL)), len(s.Drain(s.DeadURL))
	told := fmt.Sprintf("sqsafe: interrupted: letters: %d not tried; --resume carries on", left)
	if code != cli.ExitInterrupted || sent < 3 || sent+left != 20 || left == 0 || !strings.Contains(errs.String(), told) {
		t.Errorf("exit code %d, %d sent, %d left, %s", code, sent, left, errs)
	}
}
