package compatibility_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/idem"
	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

var write = flag.String("write", "", "write the folder of this version, which must not exist")

// The jobs of a version, by what had become of them when it was written.
const (
	done     = `{"id":"done"}`
	declined = `{"id":"declined"}`
	broken   = `{"id":"broken"}`
	waiting  = `{"id":"waiting"}`
	moved    = `{"id":"moved"}`
)

// story is a stack, and how often each job and step took effect.
type story struct {
	*letterstest.Stack

	mended bool
	runs   map[string]int
	steps  map[string]int
}

func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{Stack: letterstest.New(t, "orders"), runs: map[string]int{}, steps: map[string]int{}}
	s.Run = s.run
	return s
}

// run does a step, and fails as the job's name says until it is mended.
func (s *story) run(ctx context.Context, m *handler.Message) error {
	err := idem.Step(ctx, "reserve", func(context.Context) error { s.steps[m.Body]++; return nil })
	if err != nil {
		return err
	}
	switch {
	case s.mended:
	case m.Body == declined:
		return fault.CheckResponse(&http.Response{StatusCode: http.StatusUnprocessableEntity, Body: http.NoBody})
	case m.Body == broken:
		return errors.New("the books do not balance")
	case m.Body == waiting:
		return fault.Retryable(errors.New("not now"))
	}
	s.runs[m.Body]++
	return nil
}

func (s *story) table(t *testing.T) *ledger.Table {
	t.Helper()
	table, err := ledger.Open(t.Context(), s.DynamoDB, letterstest.Table)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func (s *story) dead(t *testing.T) *deadletters.Queue {
	t.Helper()
	q, err := deadletters.Open(t.Context(), s.SQS, s.DeadURL)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestWrite lets this version write what a later one has to read.
func TestWrite(t *testing.T) {
	t.Parallel()
	if *write == "" {
		t.Skip("make fixtures VERSION=v1.2.3 writes the folder of a version")
	}
	folder := filepath.Join("testdata", *write)
	if err := os.Mkdir(folder, 0o750); err != nil {
		t.Fatalf("%v: what a version wrote is not changed later", err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStory(t)
		for _, body := range []string{done, declined, broken} {
			s.Bury(body, "")
		}
		s.Send(s.SourceURL, moved, "", nil)
		s.MoveBySQS()
		s.Retrying(waiting)
		items, err := s.DynamoDB.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(letterstest.Table)})
		if err != nil {
			t.Fatal(err)
		}
		var all []map[string]value
		for _, item := range items.Items {
			encoded, err := encodeAll(item)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, encoded)
		}
		document, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "items.json"), append(document, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		letters := archive.Operation{Queue: s.dead(t), Path: filepath.Join(folder, "letters.jsonl"), Who: "a test"}
		if got, err := letters.Do(t.Context()); err != nil || got.Archived != 3 {
			t.Fatalf("archived %+v, %v", got, err)
		}
	})
}

// read brings a stack into the state in which a version left it, a day later.
func (s *story) read(t *testing.T, folder string) {
	t.Helper()
	document, err := os.ReadFile(filepath.Join(folder, "items.json"))
	if err != nil {
		t.Fatal(err)
	}
	var items []map[string]value
	if err := json.Unmarshal(document, &items); err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		_, err := s.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(letterstest.Table), Item: decodeAll(item),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// The restoration writes what it has sent into a file beside the archive, so it gets a copy.
	letters, err := os.ReadFile(filepath.Join(folder, "letters.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "letters.jsonl")
	if err := os.WriteFile(path, letters, 0o600); err != nil {
		t.Fatal(err)
	}
	restoration := archive.Restoration{Path: path, Queue: s.dead(t)}
	if got, err := restoration.Do(t.Context()); err != nil || got.Sent != 3 {
		t.Fatalf("restored %+v, %v", got, err)
	}
	<-time.After(24 * time.Hour)
}

// TestWhatEachVersionWroteIsRead lets this version continue where each released one stopped.
func TestWhatEachVersionWroteIsRead(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join("testdata", "v*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d versions, %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStory(t)
				s.read(t, folder)
				s.readsLedger(t)
				s.readsLetters(t)
				s.runsNoCopy(t) // of the job that is done
				s.goesOn(t)
				s.replays(t)
			})
		})
	}
}

func (s *story) readsLedger(t *testing.T) {
	t.Helper()
	want := map[string]ledger.State{
		"done": ledger.StateDone, "declined": ledger.StateDead, "broken": ledger.StateDead, "waiting": ledger.StateDue,
	}
	got := map[string]ledger.State{}
	for key := range want {
		e, err := s.table(t).Get(t.Context(), "orders#"+key)
		if err != nil || e == nil {
			t.Fatalf("%s: %v, %v", key, e, err)
		}
		got[key] = e.State(time.Now())
		if len(e.Other) > 0 {
			t.Errorf("%s: attributes that are not understood: %v", key, e.Other)
		}
		if _, known := e.Steps["reserve"]; !known {
			t.Errorf("%s: its step is not known: %v", key, e.Steps)
		}
		if failed := key != "done"; failed && e.Runs() != 1 {
			t.Errorf("%s: %d failed runs, want 1", key, e.Runs())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func (s *story) readsLetters(t *testing.T) {
	t.Helper()
	queue, got := s.dead(t), map[string]string{}
	_, err := queue.Read(t.Context(), deadletters.ReadOptions{}, func(m *deadletters.Message) bool {
		l := deadletters.Decode(queue, m)
		got[m.Body] = l.Reason()
		if m.Body != moved && (l.Record.Key == "" || l.Record.Runs() != 1) {
			t.Errorf("%s: record %+v", m.Body, l.Record)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{declined: "permanent rejected", broken: "unclassified", moved: "moved"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("letters (-want +got):\n%s", diff)
	}
}

func (s *story) runsNoCopy(t *testing.T) {
	t.Helper()
	s.mended = true
	s.Send(s.SourceURL, done, "", nil)
	s.Work()
	if len(s.runs) > 0 {
		t.Errorf("they ran: %v", s.runs)
	}
}

func (s *story) goesOn(t *testing.T) {
	t.Helper()
	s.Send(s.SourceURL, waiting, "", nil)
	s.Work()
	if s.runs[waiting] != 1 || s.steps[waiting] != 0 {
		t.Errorf("%d runs and %d steps, want 1 and 0: the step was done before", s.runs[waiting], s.steps[waiting])
	}
}

func (s *story) replays(t *testing.T) {
	t.Helper()
	<-time.After(time.Hour) // the look at the letters has hidden them
	o := &replay.Operation{Queue: s.dead(t), Table: s.table(t), Directory: t.TempDir()}
	pass, err := o.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := o.Execute(t.Context(), pass); err != nil || got.Sent != 3 {
		t.Fatalf("replayed %+v of a plan of %d, %v", got, len(pass.Plan.Items), err)
	}
	s.Work()
	want := map[string]int{declined: 1, broken: 1, moved: 1, waiting: 1}
	if diff := cmp.Diff(want, s.runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	var repeated []string
	for body := range s.steps {
		repeated = append(repeated, body)
	}
	if got := strings.Join(repeated, ", "); got != moved {
		t.Errorf("steps of %s ran, want only that of %s", got, moved)
	}
}
