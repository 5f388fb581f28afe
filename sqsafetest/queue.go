package sqsafetest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/bubble"
	"github.com/sqsafe/sqsafe/internal/testhost"
)

// Env is the environment of the function, by the names of its variables: what
// template.yaml sets. [sqsafe.Start] lists the variables and their values. Those that it
// requires have these values where Env does not name them:
//
//   - SQSAFE_TABLE and SQSAFE_DLQ_URL: a name and a URL that are not used;
//   - SQSAFE_MAX_RECEIVES: 30, as in template.yaml.
//
// The process's own environment is not read, and the function does not see Env: for
// variables of its own a test has t.Setenv.
type Env map[string]string

func (e Env) complete() Env {
	complete := Env{
		"SQSAFE_TABLE":        "ledger",
		"SQSAFE_DLQ_URL":      "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs-dlq",
		"SQSAFE_MAX_RECEIVES": "30",
	}
	maps.Copy(complete, e)
	return complete
}

// Queue is an SQS queue in memory and the Lambda function that is fed by it. The ledger
// and the clock outlast a run: what a later run sends comes after what an earlier one
// did. A Queue is not for concurrent use; parallel tests make one each.
type Queue struct {
	// Queue has the function and the settings of queue and event source: Name, BatchSize,
	// Timeout, Visibility, Retention. All may be changed before a run. Handler and Options
	// are what Start makes of function, options and environment. DeadLetter, Queue and
	// Logger of the Options are nil unless an option sets them.
	handlertest.Queue
	// FailStore is asked at each call of the ledger's store. While it has an error for it,
	// the store cannot be reached. Nil means that it can. It must be safe for concurrent
	// use where Concurrency is above 1, and has no effect beside a Ledger of the options.
	FailStore func() error

	sent  int       // messages so far
	clock time.Time // the end of the last run
}

// NewQueue returns a Queue for fn with the options and the environment that fn has in
// production. It applies each option once. The test is stopped where Start would exit,
// with the same message. What Start warns of is in the log of the test, and so is a
// variable SQSAFE_... of env that has no effect.
//
// These are not as in production:
//
//   - The ledger is kept in memory, in place of the table.
//   - Dead letters and changed visibility timeouts are kept in memory, and reported.
//   - Delays have no jitter: each is the shortest of its range. Options.Random brings it.
//   - Messages of a batch are claimed and settled one after the other, so that a test
//     runs the same way each time.
//   - Log lines go to the log of the test, and no metrics are written.
//
// An option that sets Ledger, DeadLetter, Queue, Restore, Random or Logger is in effect.
// A nil env stands for an empty one.
func NewQueue[T any](
	t testing.TB, env Env, fn func(ctx context.Context, payload T) error, options ...sqsafe.Option,
) *Queue {
	t.Helper()
	q := &Queue{}
	variables := &environment{env: env.complete(), read: map[string]bool{}}
	host := sqsafe.NewHost(aws.Config{Region: "eu-west-1", ConfigSources: []any{&testhost.Config{
		LookupEnv: variables.lookup,
		Store:     &store{memory: idem.NewMemory(), queue: q},
		Made:      func(h handler.Handler, o handler.Options) { q.Handler, q.Options = h, o },
	}}})
	var own sqsafe.Options
	last := func(o *sqsafe.Options) {
		own = *o
		if o.Logger == nil {
			o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
		}
	}
	if _, err := sqsafe.NewProcessorOn(host, fn, append(slices.Clip(options), last)...); err != nil {
		t.Fatalf("sqsafetest: Start would exit: %v", err)
	}
	q.Options.DeadLetter, q.Options.Queue, q.Options.Logger = own.DeadLetter, own.Queue, own.Logger
	variables.logUnread(t)
	return q
}

// Run sends the messages, invokes the function until the queue is empty, and reports
// what became of the messages. Time is virtual, as in [handlertest.Queue.Run], which has
// the rules for what fn may wait for. Messages without an id are m1, m2 and so on; later
// runs go on counting.
func (q *Queue) Run(t *testing.T, messages ...handlertest.Message) *handlertest.RunReport {
	t.Helper()
	var report *handlertest.RunReport
	bubble.Run(t, "sqsafetest.Queue.Run", func(t *testing.T) {
		t.Helper()
		messages = q.begin(t, messages)
		defer q.end()
		report = q.Queue.Run(t, messages...)
	})
	return report
}

// RunRealTime is Run on the real clock: for an fn that uses a real connection. See
// [handlertest.Queue.RunRealTime]. A Queue runs either in virtual or in real time.
func (q *Queue) RunRealTime(t testing.TB, messages ...handlertest.Message) *handlertest.RunReport {
	t.Helper()
	messages = q.begin(t, messages)
	defer q.end()
	return q.Queue.RunRealTime(t, messages...)
}

// Invoke hands all messages to the function in one event, on the clock of its caller, and
// reports what became of this delivery. See [handlertest.Queue.Invoke].
func (q *Queue) Invoke(t testing.TB, messages ...handlertest.Message) *handlertest.RunReport {
	t.Helper()
	messages = q.begin(t, messages)
	defer q.end()
	return q.Queue.Invoke(t, messages...)
}

// begin waits until the clock is where the last run ended, since each bubble begins at
// the same time, and returns the messages with their ids.
func (q *Queue) begin(t testing.TB, messages []handlertest.Message) []handlertest.Message {
	t.Helper()
	if wait := time.Until(q.clock); !q.clock.IsZero() {
		if wait.Abs() > 10*365*24*time.Hour { // bubbles begin in the year 2000
			t.Fatal("sqsafetest: this queue has run in virtual time and is to run in real time, or the other way round: " +
				"make another queue, since the ledger forgets its jobs in the years between")
		}
		<-time.After(wait)
	}
	messages = slices.Clone(messages)
	for i := range messages {
		q.sent++
		if messages[i].ID == "" {
			messages[i].ID = "m" + strconv.Itoa(q.sent)
		}
	}
	return messages
}

// end keeps the time, without the monotonic part, which means nothing in another bubble.
func (q *Queue) end() { q.clock = time.Now().Round(0) }

// environment is an Env that knows which of its variables were read.
type environment struct {
	env  Env
	read map[string]bool
}

func (e *environment) lookup(name string) (string, bool) {
	e.read[name] = true
	value, ok := e.env[name]
	return value, ok
}

func (e *environment) logUnread(t testing.TB) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(e.env)) {
		if strings.HasPrefix(name, "SQSAFE_") && !e.read[name] {
			t.Logf("sqsafetest: %s has no effect: an option says the same, or Start has no such variable", name)
		}
	}
}
