package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// Operation moves letters from a queue into a file. It is used once, by one goroutine.
type Operation struct {
	Queue  *deadletters.Queue
	Filter deadletters.Filter
	// Read configures the look at the queue.
	Read deadletters.ReadOptions
	// Path is the place of the file.
	Path string
	// Keep leaves the letters in the queue, so that the file is a copy.
	Keep bool
	// Retain is for how long the file is to be kept; 0 means for ever.
	Retain time.Duration
	// Who and Why go into the file.
	Who, Why string
	// Observe is called with the number of letters that are in the file and deleted. Nil
	// means no calls.
	Observe func(done int)

	cutoff time.Time
	done   map[string]bool // letters that are in the file, by id
	result Result
}

// Result counts letters.
type Result struct {
	// Archived letters are in the file.
	Archived int `json:"archived"`
	// Deleted are those of them that are deleted from the queue.
	Deleted int `json:"deleted"`
	// Undeleted are those that could not be deleted: they are in both places.
	Undeleted int `json:"undeleted"`
	// Behind is about how many letters of a FIFO queue stand behind others, and were not
	// seen.
	Behind int `json:"behind"`
	// Hidden is about how many letters others hide.
	Hidden int `json:"hidden"`
}

// Do reads the queue, writes the file, and deletes what is on disk. Of a FIFO queue, which
// shows ten letters of a group, it does so in portions. Its errors are those of the client
// and of the file; the result says how far it came.
func (o *Operation) Do(ctx context.Context) (Result, error) {
	o.cutoff, o.done = time.Now(), map[string]bool{}
	h := Header{Queue: o.Queue.ARN, Created: o.cutoff.UTC(), Who: o.Who, Why: o.Why}
	if o.Retain > 0 {
		h.KeepUntil = o.cutoff.Add(o.Retain).UTC()
	}
	w, err := Create(o.Path, h)
	if err != nil {
		return o.result, err
	}
	err = o.portions(ctx, w)
	return o.result, errors.Join(err, w.Close())
}

func (o *Operation) portions(ctx context.Context, w *Writer) error {
	for {
		n, err := o.portion(ctx, w)
		if err != nil || !o.Queue.FIFO || o.Keep || n == 0 {
			return err
		}
		if o.Queue.Count, err = o.Queue.Recount(ctx); err != nil {
			return err
		}
	}
}

// clockMargin is for the difference between the clocks of this machine and of SQS.
const clockMargin = 2 * time.Second

// portion moves the letters that are to be seen, and returns how many are new.
func (o *Operation) portion(ctx context.Context, w *Writer) (int, error) {
	var ids []string
	var writing error
	reading, err := o.Queue.Read(ctx, o.Read, func(m *deadletters.Message) bool {
		l := deadletters.Decode(o.Queue, m)
		late := o.Queue.FIFO && l.Arrived.After(o.cutoff.Add(clockMargin))
		if !late && !o.done[m.ID] && o.Filter.Match(l) {
			writing = w.Add(m)
			ids = append(ids, m.ID)
		}
		return writing == nil
	})
	if err != nil {
		return 0, err
	}
	defer func() {
		releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = reading.Hold.Release(releasing) // else they are visible after a while
	}()
	if err := errors.Join(writing, w.Flush()); err != nil {
		return 0, err
	}
	o.result.Archived = w.Letters
	o.result.Behind, o.result.Hidden = reading.Behind, reading.Hidden
	return len(ids), o.remove(ctx, reading.Hold, ids)
}

// perDelete is how many letters are deleted before the hold of the others is looked at.
const perDelete = 500

func (o *Operation) remove(ctx context.Context, hold *deadletters.Hold, ids []string) error {
	for _, id := range ids {
		o.done[id] = true
	}
	if o.Keep {
		return nil
	}
	for len(ids) > 0 {
		pack := ids[:min(perDelete, len(ids))]
		ids = ids[len(pack):]
		var failed error
		for _, err := range hold.Delete(ctx, pack) {
			if err != nil {
				o.result.Undeleted++
				failed = err
				continue
			}
			o.result.Deleted++
		}
		if o.Observe != nil {
			o.Observe(o.result.Deleted)
		}
		if err := errors.Join(ctx.Err(), hold.Extend(ctx)); err != nil {
			return err
		}
		if failed != nil && o.result.Deleted == 0 {
			return fmt.Errorf("the letters are in the file and in the queue: %w", failed)
		}
	}
	return nil
}
