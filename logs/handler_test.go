package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/logs"
)

// lines collects JSON lines. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// all returns the lines without their times.
func (l *lines) all(t *testing.T) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []map[string]any
	for line := range strings.Lines(l.text.String()) {
		all = append(all, object(t, line))
	}
	return all
}

// object reads a JSON line, and fails if a member is there twice.
func object(t *testing.T, line string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		t.Fatalf("line %s: %v", line, err)
	}
	for name := range o {
		if n := strings.Count(line, `"`+name+`":`); n != 1 {
			t.Errorf("%s is there %d times in %s", name, n, line)
		}
	}
	delete(o, "time")
	delete(o, "timestamp")
	return o
}

func newLogger(t *testing.T, w io.Writer, level slog.Level, o *logs.Options) *slog.Logger {
	t.Helper()
	logger, err := logs.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}), o)
	if err != nil {
		t.Fatal(err)
	}
	return logger
}

func newLedger(t *testing.T) handler.Ledger {
	t.Helper()
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("id")})
	if err != nil {
		t.Fatal(err)
	}
	return ledger
}

// run runs the jobs with that function until the queue is empty.
func run(t *testing.T, fn func(context.Context, Order) error, messages ...handlertest.Message) {
	t.Helper()
	q := handlertest.Queue{Name: "orders", Handler: handler.JSON(fn), Options: handler.Options{
		Ledger: newLedger(t), Backoff: backoff.Exponential{MaxAttempts: 3}, Logger: slog.New(slog.DiscardHandler),
	}}
	q.Run(t, messages...)
}

func TestLinesKnowTheirJob(t *testing.T) {
	t.Parallel()
	const parent = "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01"
	for _, tt := range []struct {
		name string
		log  func(ctx context.Context, l *slog.Logger)
		want map[string]any
	}{
		{"plain", func(ctx context.Context, l *slog.Logger) { l.InfoContext(ctx, "said", "a", 1) }, map[string]any{"a": 1.0}},
		{"a group", func(ctx context.Context, l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).InfoContext(ctx, "said", "c", 3)
		}, map[string]any{"a": 1.0, "g": map[string]any{"b": 2.0, "c": 3.0}}},
		{"a field that the record has", func(ctx context.Context, l *slog.Logger) {
			l.InfoContext(ctx, "said", "key", "own", "attempt", 7)
		}, map[string]any{"key": "own", "attempt": 7.0}},
		{"a field that the logger has", func(ctx context.Context, l *slog.Logger) {
			l.With("queue", "own").InfoContext(ctx, "said")
		}, map[string]any{"queue": "own"}},
		{"a field of a group", func(ctx context.Context, l *slog.Logger) {
			l.WithGroup("g").InfoContext(ctx, "said", "x", 1)
		}, map[string]any{"g": map[string]any{"x": 1.0}}},
		{"without a context", func(_ context.Context, l *slog.Logger) {
			l.Info("said")
		}, map[string]any{"key": nil, "messageId": nil, "attempt": nil, "queue": nil, "traceId": nil}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out lines
			logger := newLogger(t, &out, slog.LevelInfo, nil)
			run(t, func(ctx context.Context, _ Order) error {
				tt.log(ctx, logger)
				return nil
			}, handlertest.Message{Body: `{"id":"o-7"}`, Attributes: map[string]any{"traceparent": parent}})
			want := map[string]any{
				"level": "INFO", "msg": "said", "key": "o-7", "messageId": "m1", "attempt": 1.0, "queue": "orders",
				"traceId": "5759e988bd862e3fe1be46a994272793",
			}
			for name, value := range tt.want {
				if want[name] = value; value == nil {
					delete(want, name)
				}
			}
			if diff := cmp.Diff([]map[string]any{want}, out.all(t)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAttemptAndEpochAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	var out lines
	logger := newLogger(t, &out, slog.LevelInfo, &logs.Options{TraceID: func(context.Context) string { return "t" }})
	failures := 4
	q := handlertest.Queue{Handler: handler.JSON(func(ctx context.Context, _ Order) error {
		logger.InfoContext(ctx, "runs")
		if failures--; failures < 0 {
			return nil
		}
		return fault.Retryable(errors.New("busy"))
	}), Options: handler.Options{Ledger: newLedger(t), Backoff: backoff.Exponential{MaxAttempts: 3}}}
	q.Run(t, handlertest.Message{Body: `{"id":"o-7"}`}, handlertest.Message{
		Body: `{"id":"o-7"}`, After: time.Hour, Replay: &handler.Replay{Key: "o-7", Verdict: true, MessageID: "m1"},
	})
	var got []any
	for _, line := range out.all(t) {
		got = append(got, line["attempt"], line["epoch"], line["traceId"])
	}
	want := []any{1.0, nil, "t", 2.0, nil, "t", 3.0, nil, "t", 4.0, 1.0, "t", 5.0, 1.0, "t"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempt, epoch and trace of each run (-want +got):\n%s", diff)
	}
}

func TestDebugLinesOfChosenJobs(t *testing.T) {
	t.Parallel()
	jobs := make([]handlertest.Message, 300)
	for i := range jobs {
		jobs[i].Body = `{"id":"o-` + strings.Repeat("x", i) + `"}`
	}
	for _, tt := range []struct {
		name        string
		level       slog.Level
		options     logs.Options
		jobs        []handlertest.Message
		fail        bool
		least, most int
	}{
		{"none", slog.LevelInfo, logs.Options{}, jobs, false, 0, 0},
		{"all", slog.LevelInfo, logs.Options{DebugOneIn: 1}, jobs, false, 300, 300},
		{"one in ten", slog.LevelInfo, logs.Options{DebugOneIn: 10}, jobs, false, 15, 50},
		{"one in ten, where DEBUG has to be enabled", slog.LevelDebug,
			logs.Options{DebugOneIn: 10, Level: slog.LevelInfo}, jobs, false, 15, 50},
		{"the last attempt", slog.LevelInfo, logs.Options{DebugLastAttempt: true}, jobs[:1], true, 1, 1},
		{"each attempt of a chosen job", slog.LevelInfo, logs.Options{DebugOneIn: 1}, jobs[:1], true, 3, 3},
		{"the level of all", slog.LevelDebug, logs.Options{}, jobs, false, 300, 300},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out lines
			logger := newLogger(t, &out, tt.level, &tt.options)
			run(t, func(ctx context.Context, _ Order) error {
				logger.DebugContext(ctx, "detail")
				logger.Debug("no job")
				if tt.fail {
					return fault.Retryable(errors.New("busy"))
				}
				return nil
			}, tt.jobs...)
			n := 0
			for _, line := range out.all(t) {
				if line["msg"] == "detail" {
					n++
				} else if tt.level > slog.LevelDebug || tt.options.Level != nil {
					t.Error("a line without a job is written")
				}
			}
			if n < tt.least || n > tt.most {
				t.Errorf("%d DEBUG lines, want %d to %d", n, tt.least, tt.most)
			}
		})
	}
}

// TestNewLogHandlerOfLambda wraps the handler of aws-lambda-go: each of its own fields is
// there once.
func TestNewLogHandlerOfLambda(t *testing.T) { //nolint:paralleltest // it replaces os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = w
	next := lambdacontext.NewLogHandler(lambdacontext.WithFunctionARN())
	os.Stdout = before
	inner, err := logs.New(next, nil)
	if err != nil {
		t.Fatal(err)
	}
	logger, err := logs.New(inner.Handler(), nil) // twice is once
	if err != nil {
		t.Fatal(err)
	}
	p, err := handler.NewProcessor(handler.JSON(func(ctx context.Context, _ Order) error {
		logger.WarnContext(ctx, "said")
		return nil
	}), &handler.Options{Ledger: newLedger(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{
		AwsRequestID: "r1", InvokedFunctionArn: "arn:f",
	})
	event := handlertest.Event(handlertest.Message{Body: `{"id":"o-7"}`, Queue: "orders"})
	if _, err := p.Handle(ctx, event); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	line, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	const want = "level=WARN message=said key=o-7 messageId=m1 attempt=1 queue=orders requestId=r1 functionArn=arn:f"
	if fields != want {
		t.Errorf("line %s, want %s", fields, want)
	}
}

// TestItIsASlogHandler runs the checks of the standard library.
func TestItIsASlogHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		h, err := logs.NewHandler(slog.NewJSONHandler(&out, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}, func(t *testing.T) map[string]any {
		var o map[string]any
		if err := json.Unmarshal(out.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		return o
	})
}
