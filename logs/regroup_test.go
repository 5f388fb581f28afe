package logs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/logs"
	"github.com/sqsafe/sqsafe/sqsafetest"
	"github.com/sqsafe/sqsafe/worker"
)

// sideBySide is how many jobs run at the same time.
const sideBySide = 200

// linesPerJob is how many lines talkative writes.
const linesPerJob = 5

// talkative returns a function that logs on every path that a job's code has. It waits
// until many jobs run, so that their lines are mixed.
func talkative(logger *slog.Logger, running *atomic.Int32) func(context.Context, Order) error {
	return func(ctx context.Context, o Order) error {
		logger.InfoContext(ctx, "begins", "id", o.ID)
		running.Add(1)
		<-time.After(time.Second) // of the bubble
		own := logger.With("id", o.ID)
		if err := idem.Step(ctx, "step", func(ctx context.Context) error {
			own.InfoContext(ctx, "in a step")
			return nil
		}); err != nil {
			return err
		}
		done := make(chan struct{})
		handler.Go(ctx, func(ctx context.Context) error {
			defer close(done)
			own.WithGroup("g").InfoContext(ctx, "on a goroutine", "x", 1)
			return nil
		})
		<-done
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		own.InfoContext(ctx, "with a context of its own")
		return nil
	}
}

func logging(logger *slog.Logger) handler.Middleware {
	return func(next handler.Func) handler.Func {
		return func(ctx context.Context, m *handler.Message) error {
			var o Order
			if err := json.Unmarshal([]byte(m.Body), &o); err != nil {
				return err
			}
			logger.InfoContext(ctx, "in middleware", "id", o.ID)
			return next(ctx, m)
		}
	}
}

// requireRegrouped fails unless each job's lines have its key, and none is missing.
func requireRegrouped(t *testing.T, out *lines, queue string) {
	t.Helper()
	byKey := map[string]int{}
	messages := map[string]string{}
	for _, line := range out.all(t) {
		key, _ := line["key"].(string)
		if key == "" || key != line["id"] || line["queue"] != queue || line["attempt"] != 1.0 {
			t.Errorf("line %v", line)
		}
		id := fmt.Sprint(line["messageId"])
		if before := messages[key]; before != "" && before != id {
			t.Errorf("key %s has the messages %s and %s", key, before, id)
		}
		messages[key] = id
		byKey[key]++
	}
	for i := range sideBySide {
		if n := byKey[orderID(i)]; n != linesPerJob {
			t.Errorf("job %s has %d lines, want %d", orderID(i), n, linesPerJob)
		}
	}
	if len(byKey) != sideBySide {
		t.Errorf("%d keys, want %d", len(byKey), sideBySide)
	}
}

func orderID(i int) string { return "o-" + strconv.Itoa(i) }

func orders() []handlertest.Message {
	messages := make([]handlertest.Message, sideBySide)
	for i := range messages {
		messages[i].Body = `{"id":"` + orderID(i) + `"}`
	}
	return messages
}

func TestLinesOfAFunctionAreRegroupedByKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out lines
		var running atomic.Int32
		logger := newLogger(t, &out, slog.LevelInfo, nil)
		p, err := handler.NewProcessor(handler.JSON(talkative(logger, &running)), &handler.Options{
			Ledger: newLedger(t), Concurrency: sideBySide, Logger: slog.New(slog.DiscardHandler),
			Middleware: []handler.Middleware{logging(logger)},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		messages := orders()
		for i := range messages {
			messages[i].Queue = "orders"
		}
		go func() {
			if _, err := p.Handle(ctx, handlertest.Event(messages...)); err != nil {
				t.Error(err)
			}
			cancel()
		}()
		synctest.Wait()
		if n := running.Load(); n != sideBySide {
			t.Errorf("%d jobs run side by side, want %d", n, sideBySide)
		}
		<-ctx.Done()
		synctest.Wait()
		requireRegrouped(t, &out, "orders")
	})
}

func TestLinesOfATestAreRegroupedByKey(t *testing.T) {
	t.Parallel()
	var out lines
	var running atomic.Int32
	logger := newLogger(t, &out, slog.LevelInfo, nil)
	q := sqsafetest.NewQueue(t, sqsafetest.Env{"SQSAFE_CONCURRENCY": strconv.Itoa(sideBySide)},
		talkative(logger, &running), sqsafe.KeyField("id"), func(o *sqsafe.Options) {
			o.Middleware = []handler.Middleware{logging(logger)}
			o.Logger = slog.New(slog.DiscardHandler)
		})
	q.Name, q.BatchSize = "orders", sideBySide
	q.Run(t, orders()...)
	requireRegrouped(t, &out, "orders")
}

func TestLinesOfAWorkerAreRegroupedByKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out lines
		var running atomic.Int32
		logger := newLogger(t, &out, slog.LevelInfo, nil)
		client := sqs.NewFromConfig(localtest.Config(localaws.New(nil)))
		queue, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range orders() {
			in := &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: &m.Body}
			if _, err := client.SendMessage(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		quiet := slog.New(slog.DiscardHandler)
		w, err := worker.New(client, &worker.Options{QueueURL: *queue.QueueUrl, Logger: quiet, Batches: sideBySide / 10})
		if err != nil {
			t.Fatal(err)
		}
		p, err := handler.NewProcessor(handler.JSON(talkative(logger, &running)), &handler.Options{
			Ledger: newLedger(t), Queue: w.Queue(), Concurrency: sideBySide, Logger: quiet,
			Middleware: []handler.Middleware{logging(logger)},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx, p) }()
		<-time.After(time.Minute)
		cancel()
		if err := <-ended; worker.ExitCode(err) != 0 {
			t.Error(err)
		}
		requireRegrouped(t, &out, "orders")
	})
}

// TestNoPayloadIsLogged runs jobs to every end, with everything at DEBUG, and looks for what
// was in their messages.
func TestNoPayloadIsLogged(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	var out lines
	logger := newLogger(t, &out, slog.LevelDebug, &logs.Options{DebugOneIn: 1})
	q := sqsafetest.NewQueue(t, nil, func(ctx context.Context, o Order) error {
		logger.DebugContext(ctx, "works")
		switch o.ID {
		case "o-retry", "o-dead":
			return fmt.Errorf("order %s failed", o.ID)
		case "o-panic":
			panic("broken")
		}
		return nil
	}, sqsafe.KeyField("id"), func(o *sqsafe.Options) { o.Logger = logger })
	var messages []handlertest.Message
	for _, id := range []string{"o-done", "o-retry", "o-dead", "o-panic"} {
		messages = append(messages, handlertest.Message{
			Body:       `{"id":"` + id + `","card":"` + secret + `"}`,
			Attributes: map[string]any{"token": secret, "traceparent": "00-" + secret},
		})
	}
	messages = append(messages, handlertest.Message{Body: `{"id":"` + secret}, handlertest.Message{Body: secret})
	q.Run(t, messages...)
	if text := out.text.String(); strings.Contains(text, secret) || !strings.Contains(text, "dead-lettered") ||
		!strings.Contains(text, "works") {
		t.Errorf("the log has the payload, or lacks its lines:\n%s", text)
	}
}
