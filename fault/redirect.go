package fault

import (
	"net/http"
	"net/url"
)

// lossyRedirect returns the first redirect on the way to req that was followed
// with another method or without the body, and the method of the request that
// followed it. It returns nil if there is none.
func lossyRedirect(req *http.Request) (redirect *http.Response, followedAs string) {
	for req != nil && req.Response != nil {
		before := req.Response.Request
		if before != nil && lossy(before, req) {
			redirect, followedAs = req.Response, methodOf(req)
		}
		req = before
	}
	return redirect, followedAs
}

// lossy reports whether the request after a redirect asks for something else
// than the one before it. A GET or HEAD has only a body to lose.
func lossy(before, after *http.Request) bool {
	was := methodOf(before)
	if was != http.MethodGet && was != http.MethodHead && was != methodOf(after) {
		return true
	}
	return before.ContentLength > 0 && after.ContentLength == 0 && (after.Body == nil || after.Body == http.NoBody)
}

// methodOf returns the method, which net/http lets stand empty for GET.
func methodOf(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return req.Method
}

// redirected reports whether a status sends the client elsewhere. 300 leaves
// the choice to it, and 304 is about what it has already.
func redirected(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// location returns where a redirect leads, without what may be secret.
func location(resp *http.Response) string {
	if !redirected(resp.StatusCode) {
		return ""
	}
	to, err := resp.Location()
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path, RawPath: to.RawPath}).String()
}
