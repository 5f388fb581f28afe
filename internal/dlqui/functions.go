package dlqui

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Mapping is an event source mapping, which feeds a function from a source queue.
type Mapping struct {
	Queue, Function string
	// State is that of Lambda, such as Enabled or Disabling.
	State string
	// Expires is when the first job of the queue expires; zero if that is not known.
	Expires time.Time
}

// Functions pauses and resumes the functions that receive from the sources of a queue.
type Functions interface {
	// Mappings returns the mappings of all source queues.
	Mappings(ctx context.Context, q *Queue) ([]Mapping, error)
	// Set enables or disables all of them. It does not wait until that is done.
	Set(ctx context.Context, q *Queue, enabled bool) ([]Mapping, error)
}

// Kinds of changes that are no runs.
const (
	kindPause  = "pause"
	kindResume = "resume"
)

type functionsContent struct {
	Mappings []Mapping
	// On and Off say that a mapping is enabled, and that one is not.
	On, Off bool
}

func (p *Pages) functions(w http.ResponseWriter, r *http.Request, s *shelf) error {
	mappings, err := p.options.Functions.Mappings(r.Context(), s.Queue)
	if err != nil {
		return &problem{http.StatusBadGateway, err.Error()}
	}
	c := functionsContent{Mappings: mappings}
	changing := false
	for _, m := range mappings {
		on := m.State == "Enabled" || m.State == "Enabling" || m.State == "Creating"
		c.On, c.Off = c.On || on, c.Off || !on
		changing = changing || strings.HasSuffix(m.State, "ing")
	}
	p.render(w, http.StatusOK, "functions.html", &view{
		Title: "Functions of " + s.Name, Shelf: s, Data: c, Again: changing,
		Trail: []crumb{{s.Name, path(s.Name, "", nil)}},
	})
	return nil
}

// switchFunctions pauses or resumes.
func (p *Pages) switchFunctions(w http.ResponseWriter, r *http.Request, s *shelf) error {
	if p.options.ReadOnly {
		return errReadOnly
	}
	kind := r.PostFormValue("do")
	if kind != kindPause && kind != kindResume {
		return &problem{http.StatusBadRequest, "the form does not say whether to pause or to resume; nothing was done"}
	}
	_, err := p.options.Functions.Set(r.Context(), s.Queue, kind == kindResume)
	deed := Deed{Action: kind, Queue: s.Queue, Failed: err != nil, Why: strings.TrimSpace(r.PostFormValue("why"))}
	if auditErr := p.audit(deed); err == nil {
		err = auditErr
	}
	if err != nil {
		return &problem{http.StatusBadGateway, err.Error()}
	}
	http.Redirect(w, r, path(s.Name, "functions", nil), http.StatusSeeOther)
	return nil
}
