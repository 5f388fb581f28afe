package dlqui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

const (
	// lookFresh is for how long the pages use what was read from a queue.
	lookFresh = 30 * time.Second
	// sampleEvery and maxSamples define the trend of a queue: an hour.
	sampleEvery = 10 * time.Second
	maxSamples  = 360
	// releaseTime bounds the calls that make letters visible again.
	releaseTime = 10 * time.Second
)

// shelf is a queue and what is known of it.
type shelf struct {
	*Queue
	read deadletters.ReadOptions

	// turn is held by who reads the queue: two readers would hide letters from each other.
	turn chan struct{}

	mu      sync.Mutex
	samples []sample
	last    *look
	key     string // filter of the last look
	active  *run   // has the turn
}

// sample is the depth of a queue at a time.
type sample struct {
	at    time.Time
	count deadletters.Count
	err   error
}

// look is what a queue held at a time.
type look struct {
	at time.Time
	// letters are without their messages, in the order of a replay.
	letters []*deadletters.Letter
	reading deadletters.Reading
	// noLedger says why the ledger was not asked; empty if it was.
	noLedger string
}

func newShelf(q *Queue, read deadletters.ReadOptions) *shelf {
	return &shelf{Queue: q, read: read, turn: make(chan struct{}, 1)}
}

// errBusy says that a run has the letters of the queue.
var errBusy = errors.New("a run of this page has the letters of this queue: wait for its end, or stop it")

// busyCheck is how often a reader that waits for its turn looks whether a run has it.
const busyCheck = 100 * time.Millisecond

// take waits for the turn to read. It returns errBusy if a run has it.
func (s *shelf) take(ctx context.Context) error {
	for s.busy() == nil {
		timer := time.NewTimer(busyCheck)
		select {
		case s.turn <- struct{}{}:
			timer.Stop()
			return nil
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return errBusy
}

func (s *shelf) give() { <-s.turn }

// occupy waits for the turn of a run, which has it until [shelf.vacate]. It returns errBusy
// if another run has it.
func (s *shelf) occupy(ctx context.Context, r *run) error {
	s.mu.Lock()
	busy := s.active != nil
	if !busy {
		s.active = r // no more readers come
	}
	s.mu.Unlock()
	if busy {
		return errBusy
	}
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		s.active = nil
		s.mu.Unlock()
		return ctx.Err()
	}
}

// vacate gives the turn back to the readers, for whom what was read before is out of date.
func (s *shelf) vacate() {
	s.mu.Lock()
	s.active, s.last = nil, nil
	s.mu.Unlock()
	s.give()
}

// busy returns the run that has the letters; nil if none has.
func (s *shelf) busy() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active
}

// sample notes the depth.
func (s *shelf) sample(ctx context.Context) {
	count, err := s.Recount(ctx)
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, sample{time.Now(), count, err})
	s.samples = s.samples[max(0, len(s.samples)-maxSamples):]
}

// depths returns the samples.
func (s *shelf) depths() []sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.samples)
}

// look returns the letters of the queue that match, and the run that has the letters, if
// there is one: then they are those of an earlier look. With fresh the queue is read in
// any case.
func (s *shelf) look(ctx context.Context, f *deadletters.Filter, fresh bool) (*look, *run, error) {
	all, key := unseen(f)
	if found, busy := s.known(key, fresh); found != nil {
		return found.only(f), busy, nil
	}
	if err := s.take(ctx); err != nil {
		return nil, nil, err
	}
	defer s.give()
	if found, busy := s.known(key, fresh); found != nil { // read meanwhile
		return found.only(f), busy, nil
	}
	found, err := s.readAll(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	s.last, s.key = found, key
	s.mu.Unlock()
	return found.only(f), nil, nil
}

// known returns the last look if it will do.
func (s *shelf) known(key string, fresh bool) (*look, *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.active != nil && s.last != nil && s.key == key:
		return s.last, s.active
	case s.active != nil:
		return &look{at: time.Now()}, s.active
	case s.last != nil && s.key == key && !fresh && time.Since(s.last.at) < lookFresh:
		return s.last, nil
	}
	return nil, nil
}

// unseen returns the part of a filter that needs messages, which are not kept, and a key of
// it.
func unseen(f *deadletters.Filter) (part *deadletters.Filter, key string) {
	part = &deadletters.Filter{Text: f.Text, Where: f.Where}
	key = f.Text
	for _, c := range f.Where {
		sign := "="
		if c.Not {
			sign = "!="
		}
		key += "\x00" + strings.Join(c.Path, ".") + sign + c.Value
	}
	return part, key
}

// only returns the letters of the look that match the rest of the filter.
func (l *look) only(f *deadletters.Filter) *look {
	rest := *f
	rest.Text, rest.Where = "", nil
	if rest.IsZero() {
		return l
	}
	part := *l
	part.letters = nil
	for _, letter := range l.letters {
		if rest.Match(letter) {
			part.letters = append(part.letters, letter)
		}
	}
	return &part
}

// counted returns the queue with its present numbers.
func (s *shelf) counted(ctx context.Context) (*deadletters.Queue, error) {
	q := *s.Queue.Queue
	var err error
	q.Count, err = q.Recount(ctx)
	return &q, err
}

// readAll reads the queue.
func (s *shelf) readAll(ctx context.Context, f *deadletters.Filter) (*look, error) {
	found := &look{at: time.Now()}
	reading, err := s.each(ctx, func(l *deadletters.Letter) bool {
		if f.Match(l) {
			found.letters = append(found.letters, l.Slim())
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	found.reading = *reading
	found.noLedger = s.join(ctx, found.letters)
	deadletters.Sort(found.letters, s.FIFO)
	return found, nil
}

// each reads letters until there are no more or f returns false, and makes them visible
// again.
func (s *shelf) each(ctx context.Context, f func(*deadletters.Letter) bool) (*deadletters.Reading, error) {
	q, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	reading, err := q.Read(ctx, s.read, func(m *deadletters.Message) bool { return f(deadletters.Decode(q, m)) })
	if err != nil {
		return nil, err
	}
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	return reading, reading.Hold.Release(releasing)
}

// join asks the ledger about letters, and returns why that was not possible.
func (s *shelf) join(ctx context.Context, letters []*deadletters.Letter) string {
	if s.Table == nil {
		return s.NoTable
	}
	if len(letters) == 0 {
		return ""
	}
	if err := deadletters.Join(ctx, s.Table, letters, deadletters.JoinOptions{}); err != nil {
		return err.Error()
	}
	return ""
}

// letter returns the letter with that id and its message; nil if it is not to be seen.
func (s *shelf) letter(ctx context.Context, id string) (*deadletters.Letter, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer s.give()
	var found *deadletters.Letter
	_, err := s.each(ctx, func(l *deadletters.Letter) bool {
		if l.ID == id {
			found = l
		}
		return found == nil
	})
	if err != nil || found == nil {
		return nil, err
	}
	s.join(ctx, []*deadletters.Letter{found})
	return found, nil
}
