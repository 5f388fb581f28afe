package dlqui_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/net/html"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/letterstest"
	"github.com/sqsafe/sqsafe/internal/dlqui"
	"github.com/sqsafe/sqsafe/internal/ledger"
	"github.com/sqsafe/sqsafe/internal/localguard"
)

// site is the pages of a stack, with a client that has followed their link, and that has no
// scripts.
type site struct {
	testing.TB

	Guard *localguard.Guard
	// URL is the link, and base what comes before the paths.
	URL, base string
	// Directory has the journals and archives.
	Directory string
	client    *http.Client
	// stop ends the process, and waits.
	stop func()

	mu    sync.Mutex
	deeds []dlqui.Deed
}

// serve serves the pages of the stacks. change sets options; nil means none.
func serve(t testing.TB, change func(*dlqui.Options), stacks ...*letterstest.Stack) *site {
	t.Helper()
	s := &site{TB: t, Directory: t.TempDir()}
	o := dlqui.Options{
		Directory: s.Directory, Who: "ann", Place: "the local stack",
		Audit: func(d dlqui.Deed) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.deeds = append(s.deeds, d)
			return nil
		},
	}
	for _, stack := range stacks {
		o.Queues = append(o.Queues, shown(t, stack.SQS, stack))
	}
	if change != nil {
		change(&o)
	}
	var err error
	s.Guard, err = localguard.Listen(t.Context(), localguard.Options{ReadOnly: o.ReadOnly})
	s.check(err)
	o.CSRF = s.Guard.CSRF()
	pages, err := dlqui.New(o)
	s.check(err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { pages.Run(ctx) })
	running.Go(func() {
		if err := s.Guard.Serve(ctx, pages); err != nil {
			t.Error(err)
		}
	})
	s.stop = func() { cancel(); running.Wait() }
	t.Cleanup(s.stop)
	jar, err := cookiejar.New(nil)
	s.check(err)
	s.client = &http.Client{Jar: jar}
	s.URL = s.Guard.URL()
	s.base, _, _ = strings.Cut(s.URL, "/?")
	s.get(strings.TrimPrefix(s.URL, s.base))
	return s
}

// shown returns the dead-letter queue of a stack.
func shown(t testing.TB, client *sqs.Client, stack *letterstest.Stack) *dlqui.Queue {
	t.Helper()
	q, err := deadletters.Open(t.Context(), client, stack.DeadURL)
	if err != nil {
		t.Fatal(err)
	}
	table, err := ledger.Open(t.Context(), stack.DynamoDB, letterstest.Table)
	if err != nil {
		t.Fatal(err)
	}
	return &dlqui.Queue{Queue: q, Table: table}
}

func (s *site) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// page is an answer.
type page struct {
	*site
	status int
	path   string
	header http.Header
	body   string
	root   *html.Node
}

func (s *site) get(path string) *page {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.base+path, http.NoBody)
	s.check(err)
	return s.do(r)
}

func (s *site) post(path string, values url.Values) *page {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.base+path, strings.NewReader(values.Encode()))
	s.check(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", s.base)
	return s.do(r)
}

func (s *site) do(r *http.Request) *page {
	s.Helper()
	answer, err := s.client.Do(r)
	s.check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	s.check(err)
	root, err := html.Parse(strings.NewReader(string(body)))
	s.check(err)
	return &page{
		site: s, status: answer.StatusCode, path: answer.Request.URL.RequestURI(), header: answer.Header, body: string(body),
		root: root,
	}
}

// all returns the elements with that name.
func (p *page) all(name string) []*html.Node { return elements(p.root, name) }

func elements(root *html.Node, name string) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && (n.Data == name || name == "*") {
			found = append(found, n)
		}
	}
	return found
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// blocks are elements that stand apart from the text before them.
var blocks = []string{"dt", "dd", "div", "p", "li", "label", "h1", "h2"}

// text returns the text of an element with single spaces.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.Type == html.ElementNode && slices.Contains(blocks, d.Data):
			b.WriteString(" ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// want fails unless the page has status 200 and the texts.
func (p *page) want(texts ...string) *page {
	p.Helper()
	return p.wantStatus(http.StatusOK, texts...)
}

func (p *page) wantStatus(status int, texts ...string) *page {
	p.Helper()
	all := text(p.root)
	if p.status != status {
		p.Fatalf("%s: status %d, want %d: %s", p.path, p.status, status, all)
	}
	for _, t := range texts {
		if !strings.Contains(all, t) {
			p.Errorf("%s does not say %q: %s", p.path, t, all)
		}
	}
	return p
}

func (p *page) lacks(texts ...string) *page {
	p.Helper()
	for _, t := range texts {
		if strings.Contains(text(p.root), t) {
			p.Errorf("%s says %q", p.path, t)
		}
	}
	return p
}

// click follows the first link whose text begins so.
func (p *page) click(words string) *page {
	p.Helper()
	for _, a := range p.all("a") {
		if strings.HasPrefix(text(a), words) {
			return p.get(attr(a, "href"))
		}
	}
	p.Fatalf("%s has no link %q: %s", p.path, words, p.body)
	return nil
}

// press sends the form with a button whose text begins so, with these values.
func (p *page) press(words string, values url.Values) *page {
	p.Helper()
	for _, form := range p.all("form") {
		for _, button := range elements(form, "button") {
			if !strings.HasPrefix(text(button), words) {
				continue
			}
			sent := formValues(form)
			if name := attr(button, "name"); name != "" {
				sent.Set(name, attr(button, "value"))
			}
			maps.Copy(sent, values)
			action := attr(form, "action")
			if has(button, "formaction") {
				action = attr(button, "formaction")
			}
			if attr(form, "method") == "post" {
				return p.post(action, sent)
			}
			return p.get(action + "?" + sent.Encode())
		}
	}
	p.Fatalf("%s has no button %q: %s", p.path, words, p.body)
	return nil
}

// formValues are the values that a form has when its page is loaded.
func formValues(form *html.Node) url.Values {
	values := url.Values{}
	for _, n := range elements(form, "*") {
		switch {
		case n.Data == "input" && attr(n, "type") == "checkbox" && !has(n, "checked"), has(n, "disabled"):
		case n.Data == "input":
			values.Add(attr(n, "name"), attr(n, "value"))
		case n.Data == "textarea":
			var b strings.Builder
			for c := range n.ChildNodes() {
				b.WriteString(c.Data)
			}
			values.Add(attr(n, "name"), b.String())
		}
	}
	return values
}

// ended loads the page of a run until the run has ended.
func (p *page) ended() *page {
	p.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		if !strings.HasPrefix(p.path, "/run/") {
			p.Fatalf("%s is no run: %s", p.path, text(p.root))
		}
		if strings.Contains(text(p.root), "The run has ended") {
			return p
		}
		if time.Now().After(end) {
			p.Fatalf("the run goes on: %s", text(p.root))
		}
		<-time.After(50 * time.Millisecond)
		p = p.get(p.path)
	}
}

// audited returns the deeds.
func (s *site) audited() []dlqui.Deed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deeds)
}

// total returns the number of messages in a queue.
func total(t testing.TB, stack *letterstest.Stack, address string) int {
	t.Helper()
	q, err := deadletters.Open(t.Context(), stack.SQS, address)
	if err != nil {
		t.Fatal(err)
	}
	if q.Count.InFlight > 0 {
		t.Errorf("%d messages of %s are hidden", q.Count.InFlight, q.Name)
	}
	return q.Count.Total()
}
