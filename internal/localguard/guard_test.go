package localguard_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localguard"
)

// site is a served page, and a client that has followed its link.
type site struct {
	testing.TB
	*localguard.Guard

	base    string // http://HOST:PORT
	cookies []*http.Cookie
	changes int
}

const secret = "the secret of the page"

func newSite(t *testing.T, o localguard.Options) *site {
	t.Helper()
	g, err := localguard.Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{TB: t, Guard: g}
	s.base, _, _ = strings.Cut(g.URL(), "/?")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			s.changes++
		}
		_, _ = io.WriteString(w, secret)
	})
	go func() { ended <- g.Serve(ctx, pages) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	answer, _ := s.do(request{url: g.URL()})
	if s.cookies = answer.Cookies(); answer.StatusCode != http.StatusOK || len(s.cookies) != 1 {
		t.Fatalf("the link: %s, cookies %v", answer.Status, s.cookies)
	}
	return s
}

// request is a request; the zero value gets the first page as its owner does.
type request struct {
	method, url, host, body string
	header                  map[string]string
	cookies                 []*http.Cookie
}

func (s *site) do(q request) (answer *http.Response, body string) {
	s.Helper()
	if q.method == "" {
		q.method = http.MethodGet
	}
	if q.url == "" {
		q.url = s.base + "/"
	}
	r, err := http.NewRequestWithContext(s.Context(), q.method, q.url, strings.NewReader(q.body))
	if err != nil {
		s.Fatal(err)
	}
	if q.host != "" {
		r.Host = q.host
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	for _, c := range q.cookies {
		r.AddCookie(c)
	}
	answer, err = http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer, string(text)
}

const form = "application/x-www-form-urlencoded"

func (s *site) fields() string { return url.Values{localguard.CSRFField: {s.CSRF()}}.Encode() }

func TestTheLinkOpensThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t, localguard.Options{})
	c := s.cookies[0]
	_, port, _ := strings.Cut(strings.TrimPrefix(s.base, "http://"), ":")
	if c.Name != "sqsafe-"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("cookie %v", c)
	}
	if strings.Contains(s.URL(), c.Value) || strings.Contains(s.URL(), s.CSRF()) {
		t.Error("the link has the value of the cookie or of the forms")
	}
	answer, body := s.do(request{cookies: s.cookies})
	if answer.StatusCode != http.StatusOK || body != secret {
		t.Errorf("%s: %s", answer.Status, body)
	}
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	policy := answer.Header.Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") ||
		!strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("policy %q", policy)
	}
	origin := map[string]string{"Origin": s.base, "Content-Type": form}
	null := map[string]string{"Origin": "null", "Sec-Fetch-Site": "same-origin", "Content-Type": form}
	for _, header := range []map[string]string{origin, null} {
		answer, _ = s.do(request{method: "POST", cookies: s.cookies, header: header, body: s.fields()})
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%v: %s", header, answer.Status)
		}
	}
	if s.changes != 2 {
		t.Errorf("%d changes, want 2", s.changes)
	}
}

func TestAttacksAreRefused(t *testing.T) { //nolint:tparallel // the cases count changes of one page
	t.Parallel()
	s := newSite(t, localguard.Options{})
	other := newSite(t, localguard.Options{})
	_, port, _ := strings.Cut(strings.TrimPrefix(s.base, "http://"), ":")
	ours := func(more map[string]string) map[string]string {
		header := map[string]string{"Origin": s.base, "Content-Type": form}
		maps.Copy(header, more)
		return header
	}
	post := func(header map[string]string, body string) request {
		return request{method: "POST", cookies: s.cookies, header: header, body: body}
	}
	get := func(header map[string]string) request { return request{cookies: s.cookies, header: header} }
	renamed := &http.Cookie{Name: s.cookies[0].Name, Value: other.cookies[0].Value}
	tests := map[string]struct {
		request request
		status  int
	}{
		"no cookie":          {request{}, 403},
		"wrong token":        {request{url: s.base + "/?token=AAAA"}, 403},
		"empty token":        {request{url: s.base + "/?token="}, 403},
		"token of another":   {request{url: strings.Replace(other.URL(), other.base, s.base, 1)}, 403},
		"token elsewhere":    {request{url: strings.Replace(s.URL(), "/?", "/queue?", 1)}, 403},
		"empty cookie":       {request{cookies: []*http.Cookie{{Name: s.cookies[0].Name}}}, 403},
		"another port's":     {request{cookies: other.cookies}, 403},
		"its value renamed":  {request{cookies: []*http.Cookie{renamed}}, 403},
		"the other way":      {request{url: other.base + "/", cookies: s.cookies}, 403},
		"foreign host":       {request{host: "evil.example", cookies: s.cookies}, 403},
		"rebound name":       {request{host: "evil.example:" + port, cookies: s.cookies}, 403},
		"rebound, with link": {request{url: s.URL(), host: "evil.example:" + port}, 403},
		"name within":        {request{host: "127.0.0.1:" + port + ".evil.example", cookies: s.cookies}, 403},
		"host without port":  {request{host: "127.0.0.1", cookies: s.cookies}, 403},
		"all addresses":      {request{host: "0.0.0.0:" + port, cookies: s.cookies}, 403},

		"read from an origin":    {get(map[string]string{"Origin": "https://evil.example"}), 403},
		"read from another port": {get(map[string]string{"Origin": other.base}), 403},
		"read by a script tag":   {get(map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "script"}), 403},
		"script of another port": {get(map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "script"}), 403},
		"frame":                  {get(map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}), 403},
		"followed from elsewhere": {get(map[string]string{
			"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
		}), 403},
		"link in a frame": {request{url: s.URL(), header: map[string]string{
			"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe",
		}}, 403},

		"change from an origin":  {post(ours(map[string]string{"Origin": "https://evil.example"}), s.fields()), 403},
		"change, https":          {post(ours(map[string]string{"Origin": "https" + s.base[4:]}), s.fields()), 403},
		"change of another port": {post(ours(map[string]string{"Origin": other.base}), s.fields()), 403},
		"change without origin":  {post(map[string]string{"Content-Type": form}, s.fields()), 403},
		"change, null origin":    {post(ours(map[string]string{"Origin": "null"}), s.fields()), 403},
		"change from a frame": {post(ours(map[string]string{
			"Origin": "null", "Sec-Fetch-Site": "cross-site",
		}), s.fields()), 403},
		"change without token":    {post(ours(nil), ""), 403},
		"change with a wrong one": {post(ours(nil), "csrf="+other.CSRF()), 403},
		"token in the address": {request{
			method: "POST", url: s.base + "/?" + s.fields(), cookies: s.cookies, header: ours(nil),
		}, 403},
		"change without cookie": {request{method: "POST", header: ours(nil), body: s.fields()}, 403},
		"link as a change":      {request{method: "POST", url: s.URL(), header: ours(nil), body: s.fields()}, 403},
		"plain text":            {post(ours(map[string]string{"Content-Type": "text/plain"}), s.fields()), 415},
		"several parts": {post(ours(map[string]string{
			"Content-Type": "multipart/form-data; boundary=x",
		}), s.fields()), 415},
		"no type":        {post(map[string]string{"Origin": s.base}, s.fields()), 415},
		"not a form":     {post(ours(nil), "csrf=%zz"), 400},
		"large body":     {post(ours(nil), "x="+strings.Repeat("x", localguard.MaxBody)), 413},
		"another method": {request{method: "PUT", cookies: s.cookies, header: ours(nil)}, 405},
		"options":        {request{method: "OPTIONS", cookies: s.cookies}, 405},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer, body := s.do(test.request)
			if answer.StatusCode != test.status || strings.Contains(body, secret) || len(answer.Cookies()) > 0 {
				t.Errorf("%s: %s", answer.Status, body)
			}
			if answer.Header.Get("Content-Security-Policy") == "" || answer.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("headers %v", answer.Header)
			}
		})
	}
	if s.changes+other.changes > 0 {
		t.Errorf("%d changes were made", s.changes+other.changes)
	}
}

// A server at another port can set a cookie with our name: it does not lock the owner out.
func TestASecondCookieOfThatName(t *testing.T) {
	t.Parallel()
	s := newSite(t, localguard.Options{})
	planted := &http.Cookie{Name: s.cookies[0].Name, Value: "planted"}
	if answer, _ := s.do(request{cookies: []*http.Cookie{planted, s.cookies[0]}}); answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
}

// A browser keeps the cookies of two ports apart, since their names differ.
func TestTwoPagesInOneBrowser(t *testing.T) {
	t.Parallel()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	a, b := newSite(t, localguard.Options{}), newSite(t, localguard.Options{Address: "localhost:0"})
	for _, address := range []string{a.URL(), b.URL(), a.base + "/", b.base + "/"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", address, answer.Status)
		}
	}
}

func TestReadOnlyRefusesChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, localguard.Options{ReadOnly: true})
	answer, body := s.do(request{
		method: "POST", cookies: s.cookies, body: s.fields(),
		header: map[string]string{"Origin": s.base, "Content-Type": form},
	})
	if answer.StatusCode != http.StatusForbidden || !strings.Contains(body, "--read-only") || s.changes > 0 {
		t.Errorf("%s: %s", answer.Status, body)
	}
	if answer, _ = s.do(request{cookies: s.cookies}); answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
}

func TestOnlyLoopback(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "example.com:80", "127.0.0.1", "x"} {
		g, err := localguard.Listen(t.Context(), localguard.Options{Address: address})
		if own := new(localguard.AddressError); !errors.As(err, &own) || !strings.Contains(err.Error(), "127.0.0.1:0") {
			t.Errorf("%s: %v", address, err)
		}
		if g != nil {
			_ = g.Close()
		}
	}
}
