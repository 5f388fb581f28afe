package dlqui

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localguard"
)

//go:embed templates/*.html
var templateFiles embed.FS

// htmx is that of npm, unchanged. Its license is beside it.
//
//go:embed static
var staticFiles embed.FS

// Pages are the pages. They are safe for concurrent use.
type Pages struct {
	options Options
	shelves []*shelf
	runs    *runs
	chosen  selections
	mux     *http.ServeMux
	views   map[string]*template.Template
}

// New returns the pages.
func New(o Options) (*Pages, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &Pages{options: o, runs: newRuns(), mux: http.NewServeMux(), views: map[string]*template.Template{}}
	for _, q := range o.Queues {
		p.shelves = append(p.shelves, newShelf(q, o.Read))
	}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name == "templates/layout.html" || name == "templates/parts.html" {
			continue
		}
		t, err := template.New("layout.html").Funcs(templateFuncs()).ParseFS(
			templateFiles, "templates/layout.html", "templates/parts.html", name)
		if err != nil {
			return nil, err
		}
		p.views[name] = t
	}
	p.routes()
	return p, nil
}

func (p *Pages) routes() {
	static, _ := fs.Sub(staticFiles, "static") // embedded
	p.mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static)))
	p.mux.HandleFunc("GET /{$}", p.queues)
	p.mux.HandleFunc("GET /q/{queue}", p.onQueue(p.groups))
	p.mux.HandleFunc("GET /q/{queue}/letters", p.onQueue(p.letters))
	p.mux.HandleFunc("GET /q/{queue}/letter", p.onQueue(p.letter))
	p.mux.HandleFunc("GET /q/{queue}/payload", p.onQueue(p.payload))
	p.mux.HandleFunc("GET /q/{queue}/replay", p.onQueue(p.replayPlan))
	p.mux.HandleFunc("POST /q/{queue}/replay", p.onQueue(p.replay))
	p.mux.HandleFunc("GET /q/{queue}/edit", p.onQueue(p.edit))
	p.mux.HandleFunc("POST /q/{queue}/edit", p.onQueue(p.edited))
	for _, kind := range []string{kindArchive, kindDiscard} {
		p.mux.HandleFunc("GET /q/{queue}/"+kind, p.onQueue(p.removal(kind)))
		p.mux.HandleFunc("POST /q/{queue}/"+kind, p.onQueue(p.remove(kind)))
	}
	p.mux.HandleFunc("GET /q/{queue}/restore", p.onQueue(p.restoring))
	p.mux.HandleFunc("POST /q/{queue}/restore", p.onQueue(p.restore))
	p.mux.HandleFunc("GET /q/{queue}/redrive", p.onQueue(p.redriving))
	p.mux.HandleFunc("POST /q/{queue}/redrive", p.onQueue(p.redrive))
	if p.options.Functions != nil {
		p.mux.HandleFunc("GET /q/{queue}/functions", p.onQueue(p.functions))
		p.mux.HandleFunc("POST /q/{queue}/functions", p.onQueue(p.switchFunctions))
	}
	if p.options.Logs != nil {
		p.mux.HandleFunc("GET /q/{queue}/log", p.onQueue(p.logs))
	}
	if p.options.Live != nil {
		p.mux.HandleFunc("GET /live", p.liveNow)
	}
	p.mux.HandleFunc("GET /run/{run}", p.run)
	p.mux.HandleFunc("POST /run/{run}/stop", p.stopRun)
	p.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, http.StatusNotFound, "there is no such page")
	})
}

// ServeHTTP answers a request that the guard has let through.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// Run notes the depths of the queues until ctx ends, then stops what is under way and waits
// for its end.
func (p *Pages) Run(ctx context.Context) {
	defer p.runs.stop()
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		p.sample(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pages) sample(ctx context.Context) {
	var asking sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, s := range p.shelves {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			s.sample(ctx)
		})
	}
	asking.Wait()
}

// audit writes the audit line.
func (p *Pages) audit(d Deed) error {
	if p.options.Audit == nil {
		return nil
	}
	return p.options.Audit(d)
}

// queueHandler answers a request about a queue. Its error is shown on a page.
type queueHandler func(w http.ResponseWriter, r *http.Request, s *shelf) error

// problem is an error with a status of HTTP.
type problem struct {
	status int
	text   string
}

func (e *problem) Error() string { return e.text }

func (p *Pages) onQueue(f queueHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("queue")
		for _, s := range p.shelves {
			if s.Name != name {
				continue
			}
			if err := f(w, r, s); err != nil {
				p.failed(w, r, s, err)
			}
			return
		}
		p.fail(w, r, http.StatusNotFound, "this page does not show a queue "+line(name))
	}
}

func (p *Pages) failed(w http.ResponseWriter, r *http.Request, s *shelf, err error) {
	if own, ok := err.(*problem); ok {
		p.fail(w, r, own.status, own.text)
		return
	}
	if errors.Is(err, errBusy) {
		p.fail(w, r, http.StatusConflict, err.Error())
		return
	}
	p.fail(w, r, http.StatusBadGateway, p.options.explain(s.Queue, err))
}

func (p *Pages) fail(w http.ResponseWriter, _ *http.Request, status int, text string) {
	p.render(w, status, "problem.html", &view{Title: "This did not work", Data: text})
}

// crumb is a step of the way to a page.
type crumb struct{ Name, Address string }

// view is what templates get.
type view struct {
	Title string
	Trail []crumb
	Shelf *shelf
	// Values select letters.
	Values url.Values
	// Notices are shown above the content.
	Notices []string
	// Busy is the run that has the letters of the queue.
	Busy *run
	// Again makes a browser without scripts load the page again after some seconds.
	Again bool
	// Data is the content.
	Data any

	Now                   time.Time
	ReadOnly              bool
	CSRF, CSRFName, Place string
	// HasFunctions, HasLogs and HasLive say which pages there are.
	HasFunctions, HasLogs, HasLive bool
}

// Path returns the address of a view of the queue, with these values.
func (v *view) Path(name string, values url.Values) string { return path(v.Shelf.Name, name, values) }

// With returns the values of the view with another one.
func (v *view) With(name, value string) url.Values { return with(v.Values, name, value) }

// Fields returns the values as hidden fields.
func (v *view) Fields() []field { return fields(v.Values) }

func (p *Pages) render(w http.ResponseWriter, status int, name string, v *view) {
	v.Now, v.ReadOnly, v.Place = time.Now(), p.options.ReadOnly, p.options.Place
	v.CSRF, v.CSRFName = p.options.CSRF, localguard.CSRFField
	v.HasFunctions, v.HasLogs, v.HasLive = p.options.Functions != nil, p.options.Logs != nil, p.options.Live != nil
	if v.Values == nil {
		v.Values = url.Values{}
	}
	var b bytes.Buffer
	if err := p.views["templates/"+name].Execute(&b, v); err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
