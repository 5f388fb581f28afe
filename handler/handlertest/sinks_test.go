package handlertest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

var errDenied = errors.New("access denied")

func only(id string) func(m *handler.Message) error {
	return func(m *handler.Message) error {
		if m.MessageId == id {
			return errDenied
		}
		return nil
	}
}

func TestFakesWithAProcessor(t *testing.T) {
	t.Parallel()
	dead, source := &handlertest.DeadLetterQueue{}, &handlertest.FakeQueue{}
	o := &handler.Options{
		DeadLetter: dead, Queue: source, Logger: quiet(), Random: func() float64 { return 0 },
	}
	p, err := handler.NewProcessor(handler.Func(obey), o)
	if err != nil {
		t.Fatal(err)
	}
	response, err := p.Handle(t.Context(), handlertest.Event(bodies("ok", "bad", "retry")...))
	if err != nil || len(response.BatchItemFailures) != 1 || response.BatchItemFailures[0].ItemIdentifier != "m3" {
		t.Errorf("response is %v, %v; want the failure of m3", response, err)
	}
	if letters := dead.Letters(); len(letters) != 1 || letters[0].Message.MessageId != "m2" {
		t.Errorf("letters are %v, want that of m2", letters)
	}
	changes := source.Changes()
	if len(changes) != 1 || changes[0].Message.MessageId != "m3" || changes[0].Timeout != time.Second {
		t.Errorf("changes are %v, want 1s for m3", changes)
	}
}

func TestFakesFailWhereTheyAreTold(t *testing.T) {
	t.Parallel()
	m1, m2 := handlertest.Message{ID: "m1"}.Received(), handlertest.Message{ID: "m2"}.Received()
	fails := only("m1")
	dead := &handlertest.DeadLetterQueue{Fail: func(l handler.Letter) error { return fails(l.Message) }}
	letters := []handler.Letter{{Message: m1}, {Message: m2}}
	dead.Send(t.Context(), letters)
	if !errors.Is(letters[0].Answer(), errDenied) || letters[1].Answer() != nil || letters[1].DeadLetterID != "dead-m2" {
		t.Errorf("answers %v and %v, %q; want an error and dead-m2",
			letters[0].Answer(), letters[1].Answer(), letters[1].DeadLetterID)
	}
	source := &handlertest.FakeQueue{
		FailChange: func(c handler.VisibilityChange) error { return fails(c.Message) }, FailDelete: fails,
	}
	changes := []handler.VisibilityChange{{Message: m1}, {Message: m2}}
	source.ChangeVisibility(t.Context(), changes)
	if !errors.Is(changes[0].Answer(), errDenied) || changes[1].Answer() != nil {
		t.Errorf("changes: %v and %v, want an error and none", changes[0].Answer(), changes[1].Answer())
	}
	deletions := []handler.Deletion{{Message: m1}, {Message: m2}}
	source.Delete(t.Context(), deletions)
	if !errors.Is(deletions[0].Answer(), errDenied) || deletions[1].Answer() != nil {
		t.Errorf("deletions: %v and %v, want an error and none", deletions[0].Answer(), deletions[1].Answer())
	}
	if len(dead.Letters()) != 1 || len(source.Changes()) != 1 || len(source.Deleted()) != 1 {
		t.Errorf("kept %v, %v, %v; want m2 of each", dead.Letters(), source.Changes(), source.Deleted())
	}
}

func TestAMessageThatWasNotDeletedComesBack(t *testing.T) {
	t.Parallel()
	q := protected()
	q.Options.Queue = &handlertest.FakeQueue{FailDelete: only("m1")}
	report := q.Run(t, bodies("ok", "panic ok")...)
	report.RequireOutcomes(t, "m1", handler.OutcomeDone, handler.OutcomeDuplicate)
}
