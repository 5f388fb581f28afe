package dlqui

import (
	"net/http"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// LogLine is a line of the log of a letter's job.
type LogLine struct {
	Time time.Time
	Text string
}

type logsContent struct {
	ID      string
	Lines   []LogLine
	Problem string
}

// logs shows the lines of the log that name the letter's job. It is a page of its own, since
// it may take long and costs a query.
func (p *Pages) logs(w http.ResponseWriter, r *http.Request, s *shelf) error {
	l, err := p.oneLetter(r, s)
	if err != nil {
		return err
	}
	c := logsContent{ID: l.ID}
	if c.Lines, err = p.options.Logs(r.Context(), s.Queue, l); err != nil {
		c.Problem = err.Error()
	}
	p.render(w, http.StatusOK, "logs.html", &view{
		Title: "Log of letter " + line(l.ID), Shelf: s, Data: c, Values: map[string][]string{"id": {l.ID}},
		Trail: []crumb{
			{s.Name, path(s.Name, "", nil)}, {"letter", path(s.Name, "letter", map[string][]string{"id": {l.ID}})},
		},
	})
	return nil
}

// LiveLogs returns the lines that a stack beside the pages has of a letter's job.
func LiveLogs(live Live, l *deadletters.Letter) []LogLine {
	const most = 200
	terms := l.LogTerms()
	if l.Record.Key != "" {
		terms = append(terms, l.Record.Key)
	}
	match := func(h *Happening) bool { return slices.ContainsFunc(terms, h.about) }
	var lines []LogLine
	for _, h := range slices.Concat(live.Outcomes(match, most), live.Lines(match, most)) {
		text := h.Text
		if h.Word != "" {
			text = h.Word + ": " + text
		}
		lines = append(lines, LogLine{h.Time, text})
	}
	slices.SortStableFunc(lines, func(a, b LogLine) int { return a.Time.Compare(b.Time) })
	return lines[max(0, len(lines)-most):]
}
