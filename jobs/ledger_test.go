package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/idem/dynamo"
	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/jobs"
)

// newTable returns a client of an emulator that has the table "ledger".
func newTable() *dynamodb.Client {
	client, _ := newServer()
	return client
}

func newServer() (*dynamodb.Client, *localaws.Server) {
	server := localaws.New(nil)
	client := dynamodb.NewFromConfig(localtest.Config(server))
	_, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: aws.String("ledger"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
	})
	if err != nil {
		panic(err)
	}
	return client, server
}

// life is a job as the ledger sees it.
type life struct {
	t     *testing.T
	store *dynamo.Store
	claim idem.Claim
	n     int
}

func (l *life) run(lease time.Duration, epoch int) {
	l.t.Helper()
	l.n++
	now := time.Now()
	answer, err := l.store.Acquire(l.t.Context(), idem.Request{
		ID: "charges#ch-1", Owner: fmt.Sprint("owner", l.n), MessageID: fmt.Sprint("m", l.n), Validation: "t:1",
		Epoch: epoch, SentAt: now, Now: now, Lease: now.Add(lease), Expires: now.Add(24 * time.Hour),
	})
	if err != nil || answer.Kind != idem.AnswerAcquired {
		l.t.Fatalf("claim: %v, %v", answer.Kind, err)
	}
	l.claim = answer.Claim
}

func (l *life) settle(s idem.Settlement) {
	l.t.Helper()
	s.Expires = time.Now().Add(24 * time.Hour)
	if err := l.store.Settle(l.t.Context(), l.claim, s); err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) retry(in time.Duration) {
	l.settle(idem.Settlement{
		Kind: idem.SettleRelease, Attempts: 1, Lease: time.Now().Add(in),
		History: handler.History{}.Append(handler.Attempt{
			Number: 1, Class: "retryable", Reason: "unavailable", Message: "HTTP 503",
		}),
	})
}

func (l *life) die() {
	l.settle(idem.Settlement{
		Kind: idem.SettleVerdict, Lease: time.Now().Add(time.Minute), DeadAt: time.Now(),
		Failure: &handler.Failure{Class: "permanent", Reason: "declined", Message: "card declined"},
	})
}

func (l *life) confirm() { l.settle(idem.Settlement{Kind: idem.SettleConfirm, DeadLetterID: "dl-1"}) }

func (l *life) done() { l.settle(idem.Settlement{Kind: idem.SettleComplete}) }

func start(t *testing.T) (*life, *jobs.Ledger, *localaws.Server) {
	t.Helper()
	client, server := newServer()
	ledger, err := jobs.New(client, "ledger", "https://sqs.eu-west-1.amazonaws.com/123456789012/charges")
	if err != nil {
		t.Fatal(err)
	}
	return &life{t: t, store: dynamo.New(client, "ledger", nil)}, ledger, server
}

func TestStatusFollowsTheJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, ledger, _ := start(t)
		begun := time.Now()
		at := func(d time.Duration) time.Time { return begun.Add(d).UTC() }
		for _, step := range []struct {
			name string
			do   func()
			want jobs.Status
		}{
			{"nothing", func() {}, jobs.Status{State: jobs.Unknown}},
			{"claimed", func() { l.run(time.Minute, 0) },
				jobs.Status{State: jobs.Running, Until: at(time.Minute), MessageID: "m1"}},
			{"failed", func() { l.retry(5 * time.Second) }, jobs.Status{
				State: jobs.Waiting, NextAttempt: at(5 * time.Second), MessageID: "m1", Runs: 1, Attempts: 1,
				Class: "retryable", Reason: "unavailable", Error: "HTTP 503",
			}},
			{"its process died", func() {
				<-time.After(time.Minute)
				l.run(time.Minute, 0)
				<-time.After(2 * time.Minute)
			}, jobs.Status{
				State: jobs.Waiting, NextAttempt: at(2 * time.Minute), Interrupted: true, MessageID: "m2", Runs: 1, Attempts: 1,
				Class: "retryable", Reason: "unavailable", Error: "HTTP 503",
			}},
			{"dead, the letter is under way", func() { l.run(time.Minute, 0); l.die() }, jobs.Status{
				State: jobs.Dead, DiedAt: at(3 * time.Minute), MessageID: "m3", Class: "permanent", Reason: "declined",
				Error: "card declined",
			}},
			{"confirmed", func() { l.confirm() }, jobs.Status{
				State: jobs.Dead, DiedAt: at(3 * time.Minute), DeadLetterID: "dl-1", MessageID: "m3", Class: "permanent",
				Reason: "declined", Error: "card declined",
			}},
			{"replayed and done", func() { l.run(time.Minute, 1); l.done() },
				jobs.Status{State: jobs.Done, Epoch: 1, MessageID: "m4"}},
			{"forgotten", func() { <-time.After(25 * time.Hour) }, jobs.Status{State: jobs.Unknown}},
		} {
			step.do()
			step.want.Key = "ch-1"
			if got, err := ledger.Status(t.Context(), "ch-1"); err != nil || got != step.want {
				t.Errorf("%s: %+v, %v, want %+v", step.name, got, err, step.want)
			}
		}
	})
}

// TestWaitGoesThroughACrash waits for a job that fails once, whose process dies at the second
// run, and that succeeds at the third.
func TestWaitGoesThroughACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, ledger, server := start(t)
		var seen []jobs.State
		waited := make(chan jobs.Status, 1)
		go func() {
			status, err := ledger.Wait(t.Context(), "ch-1", &jobs.WaitOptions{
				Observe: func(s jobs.Status) { seen = append(seen, s.State) },
			})
			if err != nil {
				t.Error(err)
			}
			waited <- status
		}()
		pass := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		pass(10 * time.Second)
		l.run(time.Minute, 0)
		pass(10 * time.Second)
		l.retry(30 * time.Second)
		pass(40 * time.Second)
		l.run(time.Minute, 0) // and nobody settles it
		pass(30 * time.Second)
		restore := server.Inject(localaws.Fault{Operation: "GetItem", Status: http.StatusServiceUnavailable})
		pass(3 * time.Minute)
		restore()
		pass(20 * time.Second)
		l.run(time.Minute, 0)
		pass(10 * time.Second)
		l.done()
		if status := <-waited; status.State != jobs.Done {
			t.Errorf("ended with %+v", status)
		}
		want := []jobs.State{jobs.Unknown, jobs.Running, jobs.Waiting, jobs.Running, jobs.Waiting, jobs.Running, jobs.Done}
		if !slices.Equal(seen, want) {
			t.Errorf("seen %v, want %v", seen, want)
		}
	})
}

func TestWaitForAReplayOutlastsTheDeath(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, ledger, _ := start(t)
		l.run(time.Minute, 0)
		l.die()
		dead, err := ledger.Wait(t.Context(), "ch-1", nil)
		if err != nil || dead.State != jobs.Dead || dead.Reason != "declined" {
			t.Fatalf("%+v, %v, want dead", dead, err)
		}
		l.confirm()
		time.AfterFunc(time.Minute, func() { l.run(time.Minute, 1); l.done() })
		status, err := ledger.Wait(t.Context(), "ch-1", &jobs.WaitOptions{Epoch: dead.Epoch + 1})
		if err != nil || status.State != jobs.Done {
			t.Errorf("%+v, %v, want done", status, err)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, ledger, server := start(t)
		l.run(time.Hour, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		status, err := ledger.Wait(ctx, "ch-1", nil)
		if status.State != jobs.Running || !errors.Is(err, context.DeadlineExceeded) ||
			err.Error() != `jobs: job "ch-1" is running: context deadline exceeded` {
			t.Errorf("%+v, %v", status, err)
		}
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("ended after %v", took)
		}
		server.Inject(localaws.Fault{Operation: "GetItem", Status: http.StatusServiceUnavailable})
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = ledger.Wait(ctx, "ch-1", nil)
		late, ok := errors.AsType[*jobs.WaitError](err)
		if !ok || !errors.Is(err, context.DeadlineExceeded) || late.Read == nil ||
			!strings.Contains(err.Error(), "; the last read failed: ") {
			t.Errorf("error %v, want that of the context and that of the read", err)
		}
	})
}

func TestWaitEndsWithAnErrorThatDoesNotPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, _ := newServer()
		ledger, err := jobs.New(client, "another", "charges")
		if err != nil {
			t.Fatal(err)
		}
		_, err = ledger.Wait(t.Context(), "ch-1", nil)
		if _, missing := errors.AsType[*types.ResourceNotFoundException](err); !missing ||
			!strings.HasPrefix(err.Error(), `jobs: job "ch-1" of queue charges: `) {
			t.Errorf("error %v", err)
		}
	})
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	client := newTable()
	for want, args := range map[string][]string{
		"the table has no name": {"", "charges"},
		"names no queue":        {"ledger", "https://sqs.eu-west-1.amazonaws.com/123456789012/"},
	} {
		if _, err := jobs.New(client, args[0], args[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := jobs.New((*dynamodb.Client)(nil), "ledger", "charges"); err == nil {
		t.Error("no error for a nil client")
	}
}

func TestTheJSONOfAStatus(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for want, s := range map[string]jobs.Status{
		`{"key":"k","state":"unknown","epoch":0,"runs":0,"attempts":0}`: {Key: "k", State: jobs.Unknown},
		`{"key":"k","state":"waiting","nextAttempt":"2026-12-01T08:00:00Z","interrupted":true,"epoch":1,"runs":2,` +
			`"attempts":1,"class":"retryable","reason":"unavailable","error":"HTTP 503","messageId":"m"}`: {
			Key: "k", State: jobs.Waiting, NextAttempt: at, Interrupted: true, Epoch: 1, Runs: 2, Attempts: 1,
			Class: "retryable", Reason: "unavailable", Error: "HTTP 503", MessageID: "m",
		},
	} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("JSON %s, %v, want %s", got, err, want)
		}
	}
}
