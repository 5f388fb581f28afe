package localguard

import (
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
)

const (
	tokenName = "token"
	// CSRFField is the name of the field of a form that has the token of a change.
	CSRFField = "csrf"
	// MaxBody is the size of the largest body of a request, in bytes: a message of 1 MiB
	// (SQS quotas) takes three times as much in a form.
	MaxBody = 4 << 20
)

// Handler returns pages behind the guard.
func (g *Guard) Handler(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		if status, problem := g.problem(r); status != 0 {
			http.Error(w, problem, status)
			return
		}
		if g.enters(r) {
			g.enter(w)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// setHeaders forbids what no page needs. Scripts and styles are files of the page.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// problem returns why the request is refused; 0 if it is not.
func (g *Guard) problem(r *http.Request) (status int, text string) {
	change := r.Method == http.MethodPost
	switch {
	case !slices.Contains(g.hosts, r.Host):
		return http.StatusForbidden, "this page has another name: open the link that the command printed"
	case !g.fromHere(r):
		return http.StatusForbidden, "the request comes from another page"
	case !g.enters(r) && !g.knows(r):
		return http.StatusForbidden, "open the link that the command printed: it has the key to this page"
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return 0, ""
	case !change:
		return http.StatusMethodNotAllowed, "the page has no such method"
	case g.readOnly:
		return http.StatusForbidden, "the page was opened with --read-only"
	default:
		return g.changeProblem(r)
	}
}

// fromHere reports whether neither Origin nor Sec-Fetch-Site names another page. Only the
// link itself may be followed from elsewhere, as a page of its own.
func (g *Guard) fromHere(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "null" && origin != "http://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return g.enters(r) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// enters reports whether the request has the token of the link.
func (g *Guard) enters(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && equal(r.URL.Query().Get(tokenName), g.token)
}

// knows reports whether the request has the cookie. Servers at other ports of this host can
// set one with the same name, so each of them counts.
func (g *Guard) knows(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(g.cookie), func(c *http.Cookie) bool { return equal(c.Value, g.session) })
}

// changeProblem returns why a change is refused. A browser says where a form comes from:
// by Origin, or, since the pages have no referrer and Origin is null then, by
// Sec-Fetch-Site.
func (g *Guard) changeProblem(r *http.Request) (status int, text string) {
	origin := r.Header.Get("Origin")
	if origin != "http://"+r.Host && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return http.StatusForbidden, "the browser does not say that the request comes from this page"
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return http.StatusUnsupportedMediaType, "the request is no form"
	}
	if err := r.ParseForm(); err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return http.StatusRequestEntityTooLarge, "the form is too large"
		}
		return http.StatusBadRequest, "the form cannot be read"
	}
	if !equal(r.PostForm.Get(CSRFField), g.csrf) {
		return http.StatusForbidden, "the form is not of this page, or of an earlier run of the command: load the page again"
	}
	return 0, ""
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// enter sets the cookie and goes on to the first page: by a page of its own, since a browser
// that was led here by another page would not send the cookie to a redirect.
func (g *Guard) enter(w http.ResponseWriter) {
	//nolint:gosec // not Secure: the port has no TLS, and is reached on this machine only
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: g.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, `<!DOCTYPE html><html lang="en"><head><title>sqsafe</title>`+
		`<meta http-equiv="refresh" content="0;url=/"></head><body><h1>sqsafe</h1><p><a href="/">go on</a></p></body></html>`)
}
