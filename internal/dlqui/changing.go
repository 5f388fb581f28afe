package dlqui

import (
	"net/http"
	"strings"

	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
)

// planContent is what a replay would do.
type planContent struct {
	Selection   string
	Items       []*replay.Item
	Tally       replay.Tally
	Sendable    int
	Safe        bool
	Verdict     string
	Description string
	// Changes is the difference of an edited letter.
	Changes []change
	Rate    int
	// Ledger says that the outcomes of jobs can be followed.
	Ledger bool
}

// shownItems is how many letters of a plan are listed.
const shownItems = 200

func (p *Pages) replayPlan(w http.ResponseWriter, r *http.Request, s *shelf) error {
	values := selecting(r.URL.Query())
	f, err := parseFilter(values)
	if err != nil {
		return &problem{http.StatusBadRequest, err.Error()}
	}
	sel := newSelection(s, values, &f)
	return p.showPlan(w, r, sel, nil)
}

// showPlan shows what a replay of the selection would do.
func (p *Pages) showPlan(w http.ResponseWriter, r *http.Request, sel *selection, changes []change) error {
	s := sel.shelf
	pass, err := p.plan(r.Context(), sel)
	if err != nil {
		return err
	}
	p.chosen.put(sel)
	safe, verdict := sel.tally.Verdict()
	content := planContent{
		Selection: sel.ID, Items: pass.Plan.Items, Tally: sel.tally, Sendable: sel.tally.Letters - sel.tally.Refused,
		Safe: safe, Verdict: verdict, Description: line(describe(sel.values)), Changes: changes, Rate: defaultRate,
		Ledger: s.Table != nil,
	}
	content.Items = content.Items[:min(shownItems, len(content.Items))]
	noLedger := ""
	if s.Table == nil {
		noLedger = s.NoTable
	}
	v := &view{
		Title: "What a replay would do", Shelf: s, Values: sel.values, Data: content,
		Notices: notices(s, &look{reading: *pass.Reading, noLedger: noLedger}),
		Trail:   []crumb{{s.Name, path(s.Name, "", nil)}},
	}
	if busy, err := replay.UnderWay(r.Context(), s.Queue.Queue); err == nil && busy != nil {
		v.Notices = append(v.Notices, busy.Error()+".")
	}
	if s.FIFO && pass.Reading.Behind > 0 && len(sel.filter.IDs) == 0 {
		v.Notices = append(v.Notices, "The replay goes on with those that stand behind and are selected as well.")
	}
	p.render(w, http.StatusOK, "plan.html", v)
	return nil
}

var errStale = &problem{http.StatusConflict,
	"this form was sent already, or is too old: nothing was done; look at the letters again"}

// took returns the selection of a form.
func (p *Pages) took(r *http.Request, s *shelf) (*selection, error) {
	if p.options.ReadOnly {
		return nil, errReadOnly
	}
	if s.busy() != nil {
		return nil, errBusy
	}
	sel := p.chosen.take(s, r.PostFormValue("selection"))
	if sel == nil {
		return nil, errStale
	}
	return sel, nil
}

// started leads to the page of a run.
func (p *Pages) started(w http.ResponseWriter, r *http.Request, run *run, err error) error {
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID, http.StatusSeeOther) //nolint:gosec // the id is ours
	return nil
}

func (p *Pages) replay(w http.ResponseWriter, r *http.Request, s *shelf) error {
	how, err := parseSending(r.PostForm)
	if err != nil {
		return &problem{http.StatusBadRequest, err.Error() + "; nothing was sent: go back and correct it"}
	}
	if len(how.steps) > 0 && s.Table == nil {
		return &problem{http.StatusBadRequest, "there is no ledger that tells how the jobs of a step end: leave steps empty"}
	}
	sel, err := p.took(r, s)
	if err != nil {
		return err
	}
	if safe, verdict := sel.tally.Verdict(); !safe && r.PostFormValue("accept") == "" {
		p.chosen.put(sel)
		return &problem{http.StatusBadRequest, "this replay is " + verdict + ". Nothing was sent: go back, and accept this"}
	}
	run, err := p.startReplay(r.Context(), sel, how)
	return p.started(w, r, run, err)
}

// editContent is the form for a payload.
type editContent struct {
	ID, Body, Problem string
	Rows              int
}

func (p *Pages) editForm(w http.ResponseWriter, status int, s *shelf, c editContent) {
	c.Rows = min(max(8, strings.Count(c.Body, "\n")+2), 40)
	p.render(w, status, "edit.html", &view{
		Title: "Edit a payload", Shelf: s, Data: c, Values: map[string][]string{"id": {c.ID}},
		Trail: []crumb{
			{s.Name, path(s.Name, "", nil)}, {"letter", path(s.Name, "letter", map[string][]string{"id": {c.ID}})},
		},
	})
}

func (p *Pages) edit(w http.ResponseWriter, r *http.Request, s *shelf) error {
	l, err := p.oneLetter(r, s)
	if err != nil {
		return err
	}
	if text := editProblem(l.Message.Body); text != "" {
		return &problem{http.StatusConflict, text + "; use sqsafe dlq replay --edit"}
	}
	p.editForm(w, http.StatusOK, s, editContent{ID: l.ID, Body: l.Message.Body})
	return nil
}

// edited shows the difference, and what a replay of the edited letter would do.
func (p *Pages) edited(w http.ResponseWriter, r *http.Request, s *shelf) error {
	l, err := p.oneLetter(r, s)
	if err != nil {
		return err
	}
	before := l.Message.Body
	after := fromForm(r.PostFormValue("body"), before)
	text := editProblem(after)
	if err := replay.CheckEdit(before, after); err != nil {
		text = err.Error()
	}
	if text != "" {
		p.editForm(w, http.StatusUnprocessableEntity, s, editContent{ID: l.ID, Body: after, Problem: text})
		return nil
	}
	values := map[string][]string{"id": {l.ID}}
	f, err := parseFilter(values)
	if err != nil {
		return err
	}
	sel := newSelection(s, values, &f)
	sel.body = &after
	return p.showPlan(w, r, sel, differences(before, after))
}

// removalContent is the form that archives or discards letters.
type removalContent struct {
	Kind, Selection, Description string
	Letters                      int
	Directory                    string
}

func (p *Pages) removal(kind string) queueHandler {
	return func(w http.ResponseWriter, r *http.Request, s *shelf) error {
		if s.busy() != nil {
			return errBusy
		}
		v, found, err := p.looked(r, s)
		if err != nil {
			return err
		}
		f, err := parseFilter(v.Values)
		if err != nil {
			return &problem{http.StatusBadRequest, err.Error()}
		}
		sel := newSelection(s, v.Values, &f)
		sel.add(found.letters)
		p.chosen.put(sel)
		v.Title = "Archive letters"
		if kind == kindDiscard {
			v.Title = "Discard letters"
		}
		v.Data = removalContent{
			Kind: kind, Selection: sel.ID, Description: line(describe(v.Values)), Letters: len(found.letters),
			Directory: p.options.Directory,
		}
		p.render(w, http.StatusOK, "remove.html", v)
		return nil
	}
}

func (p *Pages) remove(kind string) queueHandler {
	return func(w http.ResponseWriter, r *http.Request, s *shelf) error {
		why := strings.TrimSpace(r.PostFormValue("why"))
		if kind == kindDiscard && why == "" {
			return &problem{http.StatusBadRequest, "say why the letters are discarded; nothing was done: go back and correct it"}
		}
		sel, err := p.took(r, s)
		if err != nil {
			return err
		}
		if len(sel.ids) == 0 {
			return &problem{http.StatusBadRequest, "no letter was selected; nothing was done"}
		}
		run, err := p.startMove(r.Context(), sel, kind, why)
		return p.started(w, r, run, err)
	}
}

func (p *Pages) oneRun(w http.ResponseWriter, r *http.Request) *run {
	found := p.runs.find(r.PathValue("run"))
	if found == nil {
		p.fail(w, r, http.StatusNotFound, "this process knows no run "+line(r.PathValue("run")))
	}
	return found
}

func (p *Pages) run(w http.ResponseWriter, r *http.Request) {
	found := p.oneRun(w, r)
	if found == nil {
		return
	}
	s := found.status()
	p.render(w, http.StatusOK, "run.html", &view{
		Title: runTitle(found), Shelf: found.Shelf, Data: found, Again: s.Active(),
		Trail: []crumb{{found.Shelf.Name, path(found.Shelf.Name, "", nil)}},
	})
}

func runTitle(r *run) string {
	return strings.ToUpper(r.Kind[:1]) + r.Kind[1:] + " " + r.ID
}

func (p *Pages) stopRun(w http.ResponseWriter, r *http.Request) {
	if found := p.oneRun(w, r); found != nil {
		found.cancel()
		http.Redirect(w, r, "/run/"+found.ID, http.StatusSeeOther)
	}
}
