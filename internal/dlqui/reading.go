package dlqui

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// queueCard is a queue of the first page.
type queueCard struct {
	*shelf
	Trend trend
}

// front is the content of the first page.
type front struct {
	Queues []queueCard
	Runs   []*run
}

func (p *Pages) queues(w http.ResponseWriter, r *http.Request) {
	var content front
	for _, s := range p.shelves {
		if len(s.depths()) == 0 {
			s.sample(r.Context())
		}
		explain := func(err error) string { return p.options.explain(s.Queue, err) }
		content.Queues = append(content.Queues, queueCard{s, newTrend(s.depths(), explain)})
	}
	content.Runs = p.runs.all()
	p.render(w, http.StatusOK, "queues.html", &view{Title: "Dead-letter queues", Data: content, Again: true})
}

// looked reads the queue with the filter of the request, and returns the view of it.
func (p *Pages) looked(r *http.Request, s *shelf) (*view, *look, error) {
	values := r.URL.Query()
	f, err := parseFilter(values)
	if err != nil {
		return nil, nil, &problem{http.StatusBadRequest, err.Error()}
	}
	found, busy, err := s.look(r.Context(), &f, values.Get("fresh") != "")
	if err != nil {
		return nil, nil, err
	}
	v := &view{Shelf: s, Values: selecting(values), Busy: busy, Notices: notices(s, found)}
	v.Trail = []crumb{{s.Name, path(s.Name, "", nil)}}
	return v, found, nil
}

// notices says what a look did not show.
func notices(s *shelf, l *look) []string {
	var list []string
	switch r := l.reading; {
	case r.Behind > 0 && s.FIFO:
		list = append(list, fmt.Sprintf("About %s behind these in their groups: SQS shows ten of a group "+
			"at most, until they are deleted.", deadletters.Number(r.Behind, "more stands", "more stand")))
	case r.Behind > 0:
		list = append(list, fmt.Sprintf("About %s not shown; look again.",
			deadletters.Number(r.Behind, "more came meanwhile or was", "more came meanwhile or were")))
	}
	if n := l.reading.Hidden; n > 0 {
		list = append(list, fmt.Sprintf("About %s hidden: somebody else looks at the queue or sends letters back.",
			deadletters.Number(n, "letter is", "letters are")))
	}
	if l.noLedger != "" {
		list = append(list, "The ledger cannot be asked: "+line(l.noLedger)+".")
	}
	return list
}

// groupsContent is the content of the page of a queue.
type groupsContent struct {
	Groups  []deadletters.Group
	Letters int
	Read    int
	At      time.Time
	// Expires is when the first of the letters expires.
	Expires time.Time
	// Filter are the fields of the form, and Description what they select.
	Filter      []filterField
	Description string
}

// filterField is a field of the form that selects letters.
type filterField struct{ Name, Label, Hint, Value string }

func (p *Pages) groups(w http.ResponseWriter, r *http.Request, s *shelf) error {
	v, found, err := p.looked(r, s)
	if err != nil {
		return err
	}
	content := groupsContent{
		Groups: deadletters.Groups(found.letters), Letters: len(found.letters), Read: found.reading.Read, At: found.at,
		Description: line(describe(v.Values)),
	}
	for _, g := range content.Groups {
		if content.Expires.IsZero() || !g.Expires.IsZero() && g.Expires.Before(content.Expires) {
			content.Expires = g.Expires
		}
	}
	for _, f := range filterFields {
		content.Filter = append(content.Filter, filterField{f.Name, f.Label, f.Hint, v.Values.Get(f.Name)})
	}
	v.Title, v.Trail, v.Data = "Dead letters of "+s.Name, nil, content
	p.render(w, http.StatusOK, "groups.html", v)
	return nil
}

// perPage is how many letters a list shows.
const perPage = 100

type lettersContent struct {
	Letters        []*deadletters.Letter
	Total, First   int
	Description    string
	Earlier, Later string
}

func (p *Pages) letters(w http.ResponseWriter, r *http.Request, s *shelf) error {
	v, found, err := p.looked(r, s)
	if err != nil {
		return err
	}
	total := len(found.letters)
	page := min(parsePage(r.URL.Query()), max(1, (total+perPage-1)/perPage))
	start := (page - 1) * perPage
	content := lettersContent{
		Letters: found.letters[start:min(start+perPage, total)], Total: total, First: start + 1,
		Description: line(describe(v.Values)),
	}
	if page > 1 {
		content.Earlier = path(s.Name, "letters", with(v.Values, "page", strconv.Itoa(page-1)))
	}
	if start+perPage < total {
		content.Later = path(s.Name, "letters", with(v.Values, "page", strconv.Itoa(page+1)))
	}
	v.Title, v.Data = deadletters.Number(total, "letter", "letters"), content
	p.render(w, http.StatusOK, "letters.html", v)
	return nil
}

// row is a name and a value of a letter.
type row struct{ Name, Value string }

type letterContent struct {
	*deadletters.Letter
	Kind        string
	Ledger      string
	Rows, Job   []row
	Steps       []string
	Attributes  []attribute
	Payload     payload
	Bytes       int
	EditProblem string
}

type attribute struct{ Name, Type, Value string }

var errNoID = &problem{http.StatusBadRequest, "the address names no letter: it wants one id"}

// oneLetter reads the letter that the request names.
func (p *Pages) oneLetter(r *http.Request, s *shelf) (*deadletters.Letter, error) {
	id := r.FormValue("id")
	if id == "" {
		return nil, errNoID
	}
	l, err := s.letter(r.Context(), id)
	switch {
	case err != nil:
		return nil, err
	case l == nil:
		return nil, &problem{http.StatusNotFound, "the letter " + line(id) + " is not to be seen in " + s.Name +
			": it is gone, or somebody else has hidden it"}
	}
	return l, nil
}

func (p *Pages) letter(w http.ResponseWriter, r *http.Request, s *shelf) error {
	l, err := p.oneLetter(r, s)
	if err != nil {
		return err
	}
	now := time.Now()
	content := letterContent{
		Letter: l, Kind: l.KindText(), Ledger: cmp.Or(l.LedgerText(), s.NoTable),
		Rows: letterRows(l), Attributes: attributesOf(l),
		Payload: newPayload(l.Message.Body), Bytes: len(l.Message.Body), EditProblem: editProblem(l.Message.Body),
	}
	if l.Entry != nil {
		content.Job = jobRows(l.Entry, now)
		content.Steps = slices.Sorted(maps.Keys(l.Entry.Steps))
	}
	v := &view{
		Title: "Letter " + line(l.ID), Shelf: s, Data: content, Values: map[string][]string{"id": {l.ID}},
		Trail: []crumb{{s.Name, path(s.Name, "", nil)}},
	}
	p.render(w, http.StatusOK, "letter.html", v)
	return nil
}

// payload sends the body as a file, byte for byte.
func (p *Pages) payload(w http.ResponseWriter, r *http.Request, s *shelf) error {
	l, err := p.oneLetter(r, s)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="payload.txt"`)
	_, _ = io.WriteString(w, l.Message.Body)
	return nil
}

// letterRows are the facts of a letter that are texts.
func letterRows(l *deadletters.Letter) []row {
	rec := &l.Record
	original := ""
	if l.OriginalID() != l.ID {
		original = l.OriginalID()
	}
	replayed := ""
	if n := l.Replayed(); n > 0 {
		replayed = fmt.Sprintf("%s, and failed again", deadletters.Number(n, "time", "times"))
	}
	rows := []row{
		{"Rule", rec.Rule}, {"Types", strings.Join(rec.Types, ", ")}, {"Codes", strings.Join(rec.Codes.All(), ", ")},
		{"Provider's id", rec.Codes.RequestID}, {"Key", rec.Key}, {"Replayed", replayed}, {"Source", l.Source},
		{"Message group", l.Group}, {"Sequence number", l.Sequence}, {"Original id", original},
		{"Function", strings.TrimSpace(rec.Function + " " + rec.FunctionVersion)}, {"Request id", rec.RequestID},
		{"Failure group", rec.Fingerprint}, {"Looks", strconv.Itoa(l.Receives) + " at this queue"},
	}
	if rec.Cut {
		rows = append(rows, row{"Note", "the record was cut to fit; the ledger and the log have the rest"})
	}
	return filled(rows)
}

func filled(rows []row) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return r.Value == "" })
}

func jobRows(e *ledger.Entry, now time.Time) []row {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339) + ", " + relative(t, now)
	}
	verdict := ""
	if v := e.Verdict; v != nil {
		verdict = v.Class + " " + v.Reason + ": " + v.Message
	}
	return filled([]row{
		{"Id", e.ID}, {"Status", e.Status}, {"State", string(e.State(now))}, {"Verdict", verdict}, {"Died", at(e.DeadAt)},
		{"Lease", at(e.Lease)}, {"Started again", strconv.Itoa(e.Epoch) + " times"},
		{"Budget used", strconv.Itoa(e.Attempts) + " attempts"}, {"Claims", strconv.Itoa(e.Claims)},
		{"Crashes", strconv.Itoa(e.Crashes)}, {"Expires", at(e.Expires)},
	})
}

// attributesOf returns the attributes of the producer, sorted by name.
func attributesOf(l *deadletters.Letter) []attribute {
	all := map[string]dlq.Attribute{}
	for name, a := range l.Message.Attributes {
		if name != dlq.AttributeName {
			all[name] = dlq.Attribute{Type: aws.ToString(a.DataType), Value: a.StringValue, Binary: a.BinaryValue}
		}
	}
	maps.Copy(all, l.Record.Displaced)
	var list []attribute
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a := all[name]
		value := "0x" + hex.EncodeToString(a.Binary)
		if a.Value != nil {
			value = *a.Value
		}
		list = append(list, attribute{name, a.Type, value})
	}
	return list
}
