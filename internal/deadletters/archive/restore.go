package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// Restoration sends the letters of a file into a dead-letter queue. It is used once, by one
// goroutine.
type Restoration struct {
	Path  string
	Queue *deadletters.Queue
	// Again sends also letters that were sent by an earlier restoration of the file, or
	// may have been.
	Again bool
	// Who goes into the journal.
	Who string
	// Observe is called with the number of letters that were sent. Nil means no calls.
	Observe func(sent int)

	journal *replay.Journal
	known   map[string]*replay.Line
	run     string
	failed  error // of the first letter that was not sent
	result  Restored
}

// Restored counts letters.
type Restored struct {
	Sent int `json:"sent"`
	// Before were sent by an earlier restoration of the file.
	Before int `json:"before"`
	// Uncertain may have been sent, now or earlier.
	Uncertain int `json:"uncertain"`
	// Refused were not sent.
	Refused int `json:"refused"`
}

// JournalPath returns the place of the journal, which has what was sent, beside the file.
func (r *Restoration) JournalPath() string { return r.Path + ".restored" }

// RestoredBefore returns how many letters of a file were restored, by what is noted beside
// it.
func RestoredBefore(path string) int {
	r := Restoration{Path: path}
	past, err := replay.ReadJournal(r.JournalPath())
	if err != nil {
		return 0
	}
	n := 0
	for _, l := range past.Letters {
		if l.State == replay.StateSent || l.State == replay.StateDeleted {
			n++
		}
	}
	return n
}

// Do verifies the file, and sends its letters in their order. Its errors are those of the
// file, of the client, and the first of a letter that SQS refused.
func (r *Restoration) Do(ctx context.Context) (Restored, error) {
	if _, err := Verify(r.Path); err != nil {
		return r.result, err
	}
	if err := r.open(); err != nil {
		return r.result, err
	}
	pack := &pack{}
	_, err := Read(r.Path, func(m *deadletters.Message) error {
		if r.skip(m.ID) {
			return nil
		}
		if pack.full(m, r.Queue.FIFO) {
			if err := r.send(ctx, pack); err != nil {
				return err
			}
		}
		pack.add(r.prepared(m), r.Queue.FIFO, m.ID+"-"+r.run)
		return nil
	})
	if err == nil {
		err = r.send(ctx, pack)
	}
	if errors.Is(err, errStopped) {
		err = nil // r.failed says why
	}
	return r.result, errors.Join(err, r.failed, r.journal.Close())
}

func (r *Restoration) open() error {
	past, err := replay.ReadJournal(r.JournalPath())
	if err == nil {
		r.known, r.run = past.Letters, past.Header.Run
		if r.Again { // other deduplication ids, or SQS would drop the messages
			r.run = time.Now().UTC().Format("20060102T150405")
		}
		r.journal, err = replay.AppendJournal(r.JournalPath())
		return err
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	r.run = time.Now().UTC().Format("20060102T150405")
	r.journal, err = replay.CreateJournal(r.JournalPath(), replay.Header{
		Run: r.run, Time: time.Now().UTC(), Queue: r.Queue.ARN, URL: r.Queue.URL, Who: r.Who,
	})
	return err
}

// skip counts letters that an earlier restoration has sent, or may have.
func (r *Restoration) skip(id string) bool {
	known := r.known[id]
	if known == nil || r.Again {
		return false
	}
	switch known.State {
	case replay.StateSent, replay.StateDeleted:
		r.result.Before++
		return true
	case replay.StateSending:
		// In a FIFO queue the same deduplication id makes a second message harmless, for
		// five minutes.
		if !r.Queue.FIFO {
			r.result.Uncertain++
		}
		return !r.Queue.FIFO
	case replay.StatePlanned, replay.StateRefused, replay.StateEnd:
	}
	return false
}

// prepared returns the message to send: one that SQS had moved gets a record that names its
// source, since SQS does not keep that.
func (r *Restoration) prepared(m *deadletters.Message) *deadletters.Message {
	if m.Source() == "" {
		return m
	}
	return m.Linked(r.Queue.MaxBytes)
}

// errStopped ends a restoration after a letter that was not sent.
var errStopped = errors.New("stopped")

// pack is the letters of a call.
type pack struct {
	ids     []string
	entries []types.SendMessageBatchRequestEntry
	size    int
	groups  map[string]bool
}

func (p *pack) full(m *deadletters.Message, fifo bool) bool {
	const link = 512 // more than what [deadletters.Message.Linked] adds
	return len(p.ids) == sqscall.MaxEntries || len(p.ids) > 0 && p.size+m.Size()+link > deadletters.MaxBytes ||
		fifo && p.groups[m.Group()]
}

func (p *pack) add(m *deadletters.Message, fifo bool, dedupID string) {
	if p.groups == nil {
		p.groups = map[string]bool{}
	}
	p.ids = append(p.ids, m.ID)
	p.entries = append(p.entries, m.Entry(fifo, dedupID))
	p.size += m.Size()
	p.groups[m.Group()] = true
}

func (r *Restoration) send(ctx context.Context, p *pack) error {
	if len(p.ids) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var announced []replay.Line
	for _, id := range p.ids {
		announced = append(announced, replay.Line{State: replay.StatePlanned, ID: id})
	}
	now := time.Now().UTC()
	announced = append(announced, replay.Line{State: replay.StateSending, Time: now, IDs: p.ids})
	if err := r.journal.Write(announced...); err != nil {
		return err
	}
	lines := make([]replay.Line, len(p.ids))
	answers := replay.Send(context.WithoutCancel(ctx), r.Queue.Client(), r.Queue.URL, p.entries)
	for i := range answers {
		a := &answers[i]
		lines[i] = replay.Line{State: replay.StateSent, Time: now, ID: p.ids[i], MessageID: a.MessageID}
		switch {
		case a.Err == nil:
			r.result.Sent++
			continue
		case errors.Is(a.Err, replay.ErrUnconfirmed):
			lines[i].State = replay.StateSending
			r.result.Uncertain++
		default:
			lines[i].State = replay.StateRefused
			r.result.Refused++
		}
		lines[i].Error = a.Err.Error()
		if r.failed == nil {
			r.failed = fmt.Errorf("letter %s: %w", p.ids[i], a.Err)
		}
	}
	*p = pack{}
	if err := r.journal.Write(lines...); err != nil {
		return err
	}
	if r.Observe != nil {
		r.Observe(r.result.Sent)
	}
	if r.failed != nil && (r.Queue.FIFO || r.result.Sent == 0) {
		return errStopped // the order of a group would be broken, or nothing works
	}
	return nil
}
