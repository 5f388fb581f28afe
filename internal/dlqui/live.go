package dlqui

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Live is a stack that runs beside the pages.
type Live interface {
	// Queues returns what the queues of the stack hold.
	Queues(ctx context.Context) ([]LiveQueue, error)
	// Counts returns what became of jobs since the start.
	Counts() []Count
	// Outcomes returns what became of jobs, and Lines what functions have logged: at most n
	// that match, the newest first.
	Outcomes(match func(*Happening) bool, n int) []Happening
	Lines(match func(*Happening) bool, n int) []Happening
}

// LiveQueue is a queue of the stack.
type LiveQueue struct {
	Name                       string
	Visible, InFlight, Delayed int
	// Oldest is the age of the oldest message; 0 if it is not known or there is none.
	Oldest time.Duration
}

// Count is a number with a name.
type Count struct {
	Name string
	N    int
}

// Happening is something that became of a job, or a line of a log. What does not apply is
// empty.
type Happening struct {
	Time time.Time
	// Word says what became of the job, such as done or dead.
	Word                     string
	Queue, Function          string
	MessageID, RequestID     string
	Key                      string
	DeadLetterQueue, Address string
	// Text has the details, or is the line.
	Text string
}

// about reports whether the text names the job, its message or its request.
func (h *Happening) about(term string) bool {
	return h.MessageID == term || h.RequestID == term || h.Key == term || strings.Contains(h.Text, term)
}

const (
	// shownOutcomes and shownLines bound the page of a stack.
	shownOutcomes = 50
	shownLines    = 100
)

type liveContent struct {
	Queues          []LiveQueue
	Problem         string
	Counts          []Count
	Outcomes, Lines []Happening
	Text, Function  string
	// Address is that of the same page, and Other that of the page that holds or goes on.
	Address, Other string
	// Held says that the page does not renew itself.
	Held bool
}

// liveNow shows what happens in the stack beside the pages.
func (p *Pages) liveNow(w http.ResponseWriter, r *http.Request) {
	live := p.options.Live
	c := liveContent{
		Text: strings.TrimSpace(r.URL.Query().Get("text")), Function: strings.TrimSpace(r.URL.Query().Get("function")),
	}
	c.Held = r.URL.Query().Get("held") != ""
	c.Address, c.Other = c.addresses()
	var err error
	if c.Queues, err = live.Queues(r.Context()); err != nil {
		c.Problem = err.Error()
	}
	text := strings.ToLower(c.Text)
	match := func(h *Happening) bool {
		return (c.Function == "" || strings.EqualFold(h.Function, c.Function)) && (text == "" ||
			slices.ContainsFunc([]string{h.Text, h.Word, h.Queue, h.MessageID, h.RequestID, h.Key}, func(s string) bool {
				return strings.Contains(strings.ToLower(s), text)
			}))
	}
	c.Counts, c.Outcomes, c.Lines = live.Counts(), live.Outcomes(match, shownOutcomes), live.Lines(match, shownLines)
	for i := range c.Outcomes {
		c.Outcomes[i].Address = p.letterAddress(&c.Outcomes[i])
	}
	p.render(w, http.StatusOK, "live.html", &view{
		Title: "What happens now", Data: c, Again: !c.Held, Trail: []crumb{{"now", "/live"}},
	})
}

func (c *liveContent) addresses() (same, other string) {
	values := url.Values{"text": {c.Text}, "function": {c.Function}}
	plain := "/live?" + values.Encode()
	held := "/live?" + with(values, "held", "1").Encode()
	if c.Held {
		return held, plain
	}
	return plain, held
}

// letterAddress returns the address of the letter that the job has become; empty if it has
// not, or if the pages do not show its queue.
func (p *Pages) letterAddress(h *Happening) string {
	for _, s := range p.shelves {
		if h.DeadLetterQueue != "" && s.Name == h.DeadLetterQueue {
			return path(s.Name, "letters", url.Values{"id": {h.MessageID}})
		}
	}
	return ""
}
