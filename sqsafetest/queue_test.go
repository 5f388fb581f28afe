package sqsafetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe"
	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/sqsafetest"
)

// Job is a payload that says what happens to it.
type Job struct {
	ID   string `json:"id"`
	Do   string `json:"do"`
	Sent int    `json:"sent,omitempty"`
}

func (j Job) Validate() error {
	if j.ID == "" {
		return errors.New("no id")
	}
	return nil
}

// perform does what the payload says: ok, busy, odd, declined, wait for a second.
func perform(_ context.Context, j Job) error {
	switch j.Do {
	case "busy":
		return fault.Retryable(errors.New("busy"))
	case "odd":
		return errors.New("odd")
	case "declined":
		return fault.Permanent(errors.New("no"), fault.WithReason("declined"))
	case "wait":
		<-time.After(time.Second)
	}
	return nil
}

func set(change func(o *sqsafe.Options)) []sqsafe.Option { return []sqsafe.Option{change} }

func jobs(payloads ...Job) []handlertest.Message {
	messages := make([]handlertest.Message, len(payloads))
	for i, p := range payloads {
		messages[i] = sqsafetest.JSON(p)
	}
	return messages
}

// wantStory wants lines of the report that begin so.
func wantStory(t *testing.T, report *handlertest.RunReport, want ...string) {
	t.Helper()
	if got := strings.Split(strings.TrimSpace(report.String()), "\n"); !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("the report is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every setting of options and environment does what it does in production.
func TestSettingsAreThoseOfStart(t *testing.T) {
	t.Parallel()
	declined := Job{ID: "1", Do: "declined"}
	unwrap := func(h handler.Handler) handler.Handler { return envelope.SNS(envelope.EventBridge(h), nil) }
	event := sqsafetest.EventBridge(envelope.Event{}, sqsafetest.JSON(Job{ID: "1"}))
	event.Attributes = map[string]any{"tenant": "t-1", "priority": 2}
	tests := map[string]struct {
		env      sqsafetest.Env
		options  []sqsafe.Option
		messages []handlertest.Message
		want     []string
	}{
		"no options: the key is the message id": {
			messages: jobs(Job{ID: "1"}, Job{ID: "1"}),
			want:     []string{"m1 at 0s, receive 1: done", "m2 at 0s, receive 1: done"},
		},
		"a key": {
			options: []sqsafe.Option{sqsafe.KeyField("id")}, messages: jobs(Job{ID: "1"}, Job{ID: "1"}),
			want: []string{"m1 at 0s, receive 1: done", "m2 at 0s, receive 1: duplicate (completed)"},
		},
		"the whole payload is the hash": {
			options: []sqsafe.Option{sqsafe.KeyField("id")}, messages: jobs(Job{ID: "1", Sent: 1}, Job{ID: "1", Sent: 2}),
			want: []string{
				"m1 at 0s, receive 1: done",
				"m2 at 0s, receive 1: dead (key_conflict): the idempotency key was used for another payload",
			},
		},
		"a hash from the environment": {
			env:     sqsafetest.Env{"SQSAFE_HASH_FIELDS": "id"},
			options: []sqsafe.Option{sqsafe.KeyField("id")}, messages: jobs(Job{ID: "1", Sent: 1}, Job{ID: "1", Sent: 2}),
			want: []string{"m1 at 0s, receive 1: done", "m2 at 0s, receive 1: duplicate (completed)"},
		},
		"strict from the environment": {
			env: sqsafetest.Env{"SQSAFE_STRICT": "true"}, messages: []handlertest.Message{{Body: `{"id":"1","more":2}`}},
			want: []string{"m1 at 0s, receive 1: dead (decode)"},
		},
		"attempts and backoff from the environment": {
			env:      sqsafetest.Env{"SQSAFE_BACKOFF": "stepped", "SQSAFE_MAX_ATTEMPTS": "2"},
			messages: jobs(Job{ID: "1", Do: "busy"}),
			want: []string{
				"m1 at 0s, receive 1: retry (tagged), back in 1m0s: busy", "m1 at 1m0s, receive 2: dead (exhausted): busy",
			},
		},
		"unclassified attempts from the environment": {
			env: sqsafetest.Env{"SQSAFE_UNCLASSIFIED_ATTEMPTS": "1"}, messages: jobs(Job{ID: "1", Do: "odd"}),
			want: []string{"m1 at 0s, receive 1: dead (unclassified): odd"},
		},
		"an option outweighs the environment": {
			env:      sqsafetest.Env{"SQSAFE_UNCLASSIFIED_ATTEMPTS": "9"},
			options:  set(func(o *sqsafe.Options) { o.UnclassifiedAttempts = 1 }),
			messages: jobs(Job{ID: "1", Do: "odd"}),
			want:     []string{"m1 at 0s, receive 1: dead (unclassified): odd"},
		},
		"one job at a time": {
			messages: jobs(Job{ID: "1", Do: "busy"}, Job{ID: "2", Do: "wait"}, Job{ID: "3", Do: "wait"}),
			env:      sqsafetest.Env{"SQSAFE_MAX_ATTEMPTS": "2"},
			want: []string{
				"m1 at 0s, receive 1: retry (tagged), back in 1s: busy", "m2 at 0s, receive 1: done",
				"m3 at 0s, receive 1: done", "m1 at 3s, receive 2: dead (exhausted): busy",
			},
		},
		"concurrency from the environment": {
			messages: jobs(Job{ID: "1", Do: "busy"}, Job{ID: "2", Do: "wait"}, Job{ID: "3", Do: "wait"}),
			env:      sqsafetest.Env{"SQSAFE_MAX_ATTEMPTS": "2", "SQSAFE_CONCURRENCY": "3"},
			want: []string{
				"m1 at 0s, receive 1: retry (tagged), back in 1s: busy", "m2 at 0s, receive 1: done",
				"m3 at 0s, receive 1: done", "m1 at 2s, receive 2: dead (exhausted): busy",
			},
		},
		"the last receive": {
			env: sqsafetest.Env{"SQSAFE_MAX_RECEIVES": "2"}, messages: jobs(Job{ID: "1", Do: "busy"}),
			want: []string{
				"m1 at 0s, receive 1: retry (tagged), back in 1s: busy", "m1 at 1s, receive 2: dead (max_receives): busy",
			},
		},
		"a classifier": {
			options:  set(func(o *sqsafe.Options) { o.Classifier = permanent{} }),
			messages: jobs(Job{ID: "1", Do: "odd"}), want: []string{"m1 at 0s, receive 1: dead (mine): odd"},
		},
		"a dropped reason": {
			options:  set(func(o *sqsafe.Options) { o.Drop = []string{"declined"} }),
			messages: jobs(declined), want: []string{"m1 at 0s, receive 1: dropped (declined): no"},
		},
		"backoff by reason": {
			options: set(func(o *sqsafe.Options) {
				o.BackoffByReason = map[string]handler.Backoff{fault.ReasonTagged: twice(time.Hour)}
			}),
			messages: jobs(Job{ID: "1", Do: "busy"}),
			want: []string{
				"m1 at 0s, receive 1: retry (tagged), back in 1h0m0s: busy", "m1 at 1h0m0s, receive 2: dead (exhausted): busy",
			},
		},
		"envelopes in each other": {
			options: set(func(o *sqsafe.Options) { o.Envelope = unwrap; o.Key = idem.Attribute("tenant") }),
			messages: []handlertest.Message{
				sqsafetest.SNS("arn:aws:sns:eu-west-1:123456789012:jobs", event), sqsafetest.JSON(Job{ID: "1"}),
			},
			want: []string{"m1 at 0s, receive 1: done", "m2 at 0s, receive 1: dead (decode)"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := sqsafetest.NewQueue(t, tt.env, perform, tt.options...)
			wantStory(t, q.Run(t, tt.messages...), tt.want...)
		})
	}
}

type permanent struct{}

func (permanent) Classify(context.Context, error) fault.Decision {
	return fault.Decision{Class: fault.ClassPermanent, Reason: "mine"}
}

// twice is a backoff of two attempts.
type twice time.Duration

func (d twice) Delay(int, func() float64) time.Duration { return time.Duration(d) }
func (twice) Attempts() int                             { return 2 }

// Options are applied once for a queue, and what they count counts.
func TestOptionsAreAppliedOnce(t *testing.T) {
	t.Parallel()
	var applied, wrapped, batches int
	q := sqsafetest.NewQueue(t, nil, perform, func(o *sqsafe.Options) {
		applied++
		o.Middleware = append(o.Middleware, func(next handler.Func) handler.Func {
			return func(ctx context.Context, m *handler.Message) error { wrapped++; return next(ctx, m) }
		})
		o.Hooks.OnBatch = func(context.Context, handler.Report) { batches++ }
	})
	q.Run(t, jobs(Job{ID: "1"}, Job{ID: "2"})...)
	if got, want := []int{applied, wrapped, batches}, []int{1, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("options applied, jobs in middleware, batches: %v, want %v", got, want)
	}
}

// The environment of the process that tests are run in has no effect.
func TestTheProcessEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("SQSAFE_UNCLASSIFIED_ATTEMPTS", "1")
	t.Setenv("SQSAFE_MAX_RECEIVES", "none")
	q := sqsafetest.NewQueue(t, nil, perform)
	q.Run(t, jobs(Job{ID: "1", Do: "odd"})...).RequireRuns(t, "m1", 3)
}

// What a test is given of the caller's is not changed.
func TestWhatIsGivenStaysAsItIs(t *testing.T) {
	t.Parallel()
	given := sqsafetest.Env{"SQSAFE_CONCURRENCY": "2"}
	list := make([]sqsafe.Option, 0, 9)
	messages := jobs(Job{ID: "1"})
	sqsafetest.NewQueue(t, given, perform, list...).Run(t, messages...)
	if len(given) != 1 || list[:1][0] != nil || messages[0].ID != "" {
		t.Errorf("environment %v, options %v, messages %v; want them as they were", given, list[:1], messages)
	}
}

// recorder is a testing.TB that remembers how it was stopped.
type recorder struct {
	testing.TB
	fatal string
	log   bytes.Buffer
}

func (*recorder) Helper()             {}
func (r *recorder) Output() io.Writer { return &r.log }
func (r *recorder) Logf(format string, values ...any) {
	fmt.Fprintf(&r.log, format+"\n", values...)
}

func (r *recorder) Fatal(values ...any) {
	r.fatal = fmt.Sprint(values...)
	panic(r)
}

func (r *recorder) Fatalf(format string, values ...any) {
	r.fatal = fmt.Sprintf(format, values...)
	panic(r)
}

// try calls what may stop the test.
func (r *recorder) try(call func(t testing.TB)) {
	defer func() {
		if value := recover(); value != nil && value != any(r) {
			panic(value)
		}
	}()
	call(r)
}

// What Start refuses stops the test.
func TestWhatStartRefusesStopsTheTest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env    sqsafetest.Env
		option func(o *sqsafe.Options)
		want   string
	}{
		"nothing": {env: nil, want: ""},
		"a wrong variable": {
			env: sqsafetest.Env{"SQSAFE_CONCURRENCY": "many"}, want: `environment variable SQSAFE_CONCURRENCY is "many"`,
		},
		"a variable taken away": {
			env: sqsafetest.Env{"SQSAFE_TABLE": ""}, want: "environment variable SQSAFE_TABLE is not set",
		},
		"the name of a queue": {
			env: sqsafetest.Env{"SQSAFE_DLQ_URL": "charge-dlq"}, want: `environment variable SQSAFE_DLQ_URL is "charge-dlq"`,
		},
		"a lease below zero":         {option: func(o *sqsafe.Options) { o.Lease = -1 }, want: "idem: "},
		"a backoff without attempts": {option: func(o *sqsafe.Options) { o.Backoff = none{} }, want: "handler: backoff"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{TB: t}
			r.try(func(t testing.TB) {
				t.Helper()
				sqsafetest.NewQueue(t, tt.env, charge, func(o *sqsafe.Options) {
					if tt.option != nil {
						tt.option(o)
					}
				})
			})
			if (r.fatal == "") != (tt.want == "") || !strings.Contains(r.fatal, tt.want) {
				t.Errorf("the test was stopped with %q, want %q", r.fatal, tt.want)
			}
		})
	}
}

type none struct{}

func (none) Delay(int, func() float64) time.Duration { return 0 }
func (none) Attempts() int                           { return 0 }

// The log of the test has what Start warns of, and variables without effect.
func TestTheLogOfATest(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	r.try(func(t testing.TB) {
		t.Helper()
		given := sqsafetest.Env{"SQSAFE_CONCURENCY": "5", "SQSAFE_STRICT": "true", "PROVIDER_URL": "x"}
		sqsafetest.NewQueue(t, given, func(context.Context, struct{ ID string }) error { return nil })
	})
	for line, want := range map[string]bool{
		"no idempotency key": true, "payloads are not validated": true, "SQSAFE_CONCURENCY has no effect": true,
		"SQSAFE_STRICT": false, "SQSAFE_TABLE": false, "PROVIDER_URL": false,
	} {
		if strings.Contains(r.log.String(), line) != want {
			t.Errorf("the log has %q: %v, want %v\n%s", line, !want, want, &r.log)
		}
	}
}

// A logger of the options gets the lines of the function and of the ledger.
func TestALoggerOfTheOptions(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	q := sqsafetest.NewQueue(t, nil, perform, func(o *sqsafe.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	q.Run(t, jobs(Job{ID: "1", Do: "declined"})...)
	if !strings.Contains(log.String(), "outcome=dead") {
		t.Errorf("log:\n%s", &log)
	}
}

// Time and ledger go on from run to run, so that the producer's next message comes after
// the death of the job before, and opens it again.
func TestTheClockGoesOnFromRunToRun(t *testing.T) {
	t.Parallel()
	fail := true
	q := sqsafetest.NewQueue(t, env, func(context.Context, Charge) error {
		if fail {
			return fault.Retryable(errors.New("busy"))
		}
		return nil
	}, options...)
	job := sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1})
	q.Run(t, job).RequireDeadLetter(t, "m1", handler.ReasonExhausted)
	fail = false
	q.Run(t, job).RequireOutcomes(t, "m2", handler.OutcomeDone)
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Hour)
		q.Run(t, job, job).RequireOutcomes(t, "m4", handler.OutcomeDuplicate)
		q.Invoke(t, job).RequireOutcomes(t, "m5", handler.OutcomeDuplicate)
	})
	q.Run(t, job).RequireOutcomes(t, "m6", handler.OutcomeDuplicate)
}

// Between virtual and real time the ledger would forget its jobs.
func TestAQueueRunsInOneKindOfTime(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	q := sqsafetest.NewQueue(t, nil, perform)
	q.Run(t, jobs(Job{ID: "1"})...)
	r.try(func(t testing.TB) {
		t.Helper()
		q.Invoke(t, jobs(Job{ID: "2"})...)
	})
	if !strings.Contains(r.fatal, "make another queue") {
		t.Errorf("the test was stopped with %q, want a remedy", r.fatal)
	}
}

// A job that a killed process had claimed runs again when its message comes back.
func TestAKilledProcess(t *testing.T) {
	t.Parallel()
	runs := 0
	q := sqsafetest.NewQueue(t, env, func(ctx context.Context, _ Charge) error {
		if runs++; runs == 1 {
			handlertest.Kill(ctx)
		}
		return nil
	}, options...)
	q.Timeout = 10 * time.Second
	wantStory(t, q.Run(t, sqsafetest.JSON(Charge{ID: "ch-1", Amount: 1})),
		"m1 at 0s, receive 1: killed", "m1 at 1m0s, receive 2: done")
}

// A store that cannot be reached costs a retry, or lets the job run unprotected where
// FailOpen says so.
func TestAStoreThatCannotBeReached(t *testing.T) {
	t.Parallel()
	for open, want := range map[bool][]handler.Outcome{
		false: {handler.OutcomeRetry, handler.OutcomeDone}, true: {handler.OutcomeDone},
	} {
		q := sqsafetest.NewQueue(t, nil, perform, func(o *sqsafe.Options) { o.FailOpen = open })
		began := time.Time{}
		q.FailStore = func() error {
			if began.IsZero() {
				began = time.Now()
			}
			if time.Since(began) < 100*time.Millisecond {
				return errors.New("throttled")
			}
			return nil
		}
		q.Run(t, jobs(Job{ID: "1"})...).RequireOutcomes(t, "m1", want...)
	}
}

// A dead-letter queue and a queue of the options are asked, as in production.
func TestQueuesOfTheOptions(t *testing.T) {
	t.Parallel()
	dead, queue := &handlertest.DeadLetterQueue{}, &handlertest.FakeQueue{}
	q := sqsafetest.NewQueue(t, nil, perform, func(o *sqsafe.Options) { o.DeadLetter, o.Queue = dead, queue })
	q.Run(t, jobs(Job{ID: "1", Do: "declined"}, Job{ID: "2", Do: "odd"})...)
	if len(dead.Letters()) != 2 || len(queue.Changes()) != 2 {
		t.Errorf("%d letters, %d changes; want 2 and 2", len(dead.Letters()), len(queue.Changes()))
	}
}

// A ledger of the options takes the place of the one in memory.
func TestALedgerOfTheOptions(t *testing.T) {
	t.Parallel()
	ledger, err := idem.New(idem.NewMemory(), &idem.Options{Key: idem.JSONField("do")})
	if err != nil {
		t.Fatal(err)
	}
	q := sqsafetest.NewQueue(t, nil, perform, func(o *sqsafe.Options) { o.Ledger = ledger })
	q.Run(t, jobs(Job{ID: "1"}, Job{ID: "1"})...).RequireReason(t, "m2", idem.ReasonMissingKey)
}

// A function that talks to a server runs on the real clock.
func TestRealTime(t *testing.T) {
	t.Parallel()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	q := sqsafetest.NewQueue(t, nil, func(ctx context.Context, _ Job) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, http.NoBody)
		if err != nil {
			return err
		}
		response, err := server.Client().Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		return fault.CheckResponse(response)
	}, func(o *sqsafe.Options) { o.Backoff = twice(0) })
	report := q.RunRealTime(t, jobs(Job{ID: "1"})...)
	report.RequireOutcomes(t, "m1", handler.OutcomeRetry, handler.OutcomeDone)
}

// Records keep what SQS said of the message.
func TestRecords(t *testing.T) {
	t.Parallel()
	given := handlertest.Message{
		ID: "9b3c", Body: `{"id":"1"}`, Group: "g", Receives: 3, Queue: "elsewhere",
		Attributes: map[string]any{"text": "a", "number": 7, "bytes": []byte{1}},
	}.Record()
	got := sqsafetest.Records(given)[0].Received()
	if got.MessageId != "9b3c" || got.Body != given.Body || got.GroupID() != "g" || got.ReceiveCount() != 3 {
		t.Errorf("message %+v, want what the record says", got)
	}
	if diff := cmp.Diff(given.MessageAttributes, got.MessageAttributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

// A notification has the attributes of type text and number in it.
func TestAttributesInANotification(t *testing.T) {
	t.Parallel()
	m := sqsafetest.JSON(Job{ID: "1"})
	m.Attributes = map[string]any{"tenant": "t-1", "priority": 2}
	var tenant, priority string
	q := sqsafetest.NewQueue(t, nil, func(ctx context.Context, _ Job) error {
		tenant, _ = handler.FromContext(ctx).Attribute("tenant")
		priority, _ = handler.FromContext(ctx).Attribute("priority")
		return nil
	}, func(o *sqsafe.Options) {
		o.Envelope = func(h handler.Handler) handler.Handler {
			return envelope.SNS(h, &envelope.SNSOptions{Topics: []string{"arn:aws:sns:eu-west-1:1:jobs"}})
		}
	})
	report := q.Run(t, sqsafetest.SNS("arn:aws:sns:eu-west-1:1:jobs", m), sqsafetest.SNS("", m))
	report.RequireOutcomes(t, "m1", handler.OutcomeDone)
	report.RequireDeadLetter(t, "m2", fault.ReasonDecode)
	if tenant != "t-1" || priority != "2" {
		t.Errorf("tenant %q, priority %q; want t-1 and 2", tenant, priority)
	}
}

// Events are different ones, unless the test says which they are.
func TestEventsHaveIDs(t *testing.T) {
	t.Parallel()
	job := sqsafetest.JSON(Job{ID: "1"})
	same := sqsafetest.EventBridge(envelope.Event{ID: "e-1"}, job)
	q := sqsafetest.NewQueue(t, nil, perform, func(o *sqsafe.Options) {
		o.Envelope, o.Key = envelope.EventBridge, idem.Attribute("eventbridge:id")
	})
	report := q.Run(t,
		sqsafetest.EventBridge(envelope.Event{}, job), sqsafetest.EventBridge(envelope.Event{}, job), same, same)
	report.RequireRunOrder(t, "m1", "m2", "m3")
}

func TestWhatIsNoJSONPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "chan int cannot be JSON") {
			t.Errorf("panic %s, want it to name the type", text)
		}
	}()
	sqsafetest.JSON(make(chan int))
}
