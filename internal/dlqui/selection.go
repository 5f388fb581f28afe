package dlqui

import (
	"crypto/rand"
	"net/url"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// selection is a fixed set of letters that a page has shown, for what may be done with
// them afterwards.
type selection struct {
	ID     string
	shelf  *shelf
	values url.Values // what selected them
	filter deadletters.Filter
	ids    []string
	made   time.Time
	// body is the edited body of the only letter; nil if it is not edited.
	body *string
	// tally is what a replay would do.
	tally replay.Tally
}

func newSelection(s *shelf, values url.Values, f *deadletters.Filter) *selection {
	return &selection{ID: rand.Text(), shelf: s, values: values, filter: *f, made: time.Now()}
}

func (sel *selection) add(letters []*deadletters.Letter) {
	for _, l := range letters {
		sel.ids = append(sel.ids, l.ID)
	}
}

// chosen returns a filter for the letters of the selection. Of a FIFO queue, where most of a
// group stand behind what is to be seen, it is what selected them, without what died
// later.
func (sel *selection) chosen() deadletters.Filter {
	if !sel.shelf.FIFO || len(sel.filter.IDs) > 0 {
		return deadletters.Filter{IDs: sel.ids}
	}
	f := sel.filter
	if f.Until.IsZero() || f.Until.After(sel.made) {
		f.Until = sel.made
	}
	return f
}

// selections are those that were shown last.
type selections struct {
	mu   sync.Mutex
	list []*selection
}

// maxSelections is how many are remembered.
const maxSelections = 32

func (s *selections) put(sel *selection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, sel)
	s.list = s.list[max(0, len(s.list)-maxSelections):]
}

// take returns a selection and forgets it, so that a form that is sent twice does not do
// the same twice; nil if it is not there any more.
func (s *selections) take(shelf *shelf, id string) *selection {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, sel := range s.list {
		if sel.ID == id && sel.shelf == shelf {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			return sel
		}
	}
	return nil
}
