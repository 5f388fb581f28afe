// Package guardtest attacks a port of this machine as a web page does that its owner has
// open in a browser: from another origin, and under a name that points to this machine.
package guardtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Target is a request that a port answers when a program of this machine sends it.
type Target struct {
	// Method and URL; an empty method is POST.
	Method, URL string
	// Header and Body are those of the program.
	Header map[string]string
	Body   string
}

// foreign are names and pages that are not those of a port at 127.0.0.1.
var foreign = map[string]map[string]string{
	"a name that points here":        {"Host": "evil.example:4570"},
	"such a name, from its page":     {"Host": "evil.example", "Origin": "http://evil.example"},
	"such a name, same origin":       {"Host": "evil.example:80", "Sec-Fetch-Site": "same-origin"},
	"a subdomain of localhost":       {"Host": "localhost.evil.example"},
	"the metadata service":           {"Host": "169.254.169.254"},
	"another site":                   {"Origin": "https://evil.example"},
	"a page of a file or a sandbox":  {"Origin": "null"},
	"another port of this machine":   {"Origin": "http://127.0.0.1:3000"},
	"another port, no Origin":        {"Sec-Fetch-Site": "same-site"},
	"an image":                       {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
	"a form or a request by no-cors": {"Origin": "https://evil.example", "Content-Type": "text/plain"},
	"two origins":                    {"Origin": "http://localhost:3000 https://evil.example"},
}

// Refuses fails the test unless the port refuses the request with 403 from each page, with
// the request's own method and as a preflight, and tells the page nothing. The caller
// checks that nothing has changed.
func Refuses(t *testing.T, target Target) {
	t.Helper()
	for name, header := range foreign {
		answer, body := send(t, target, header)
		if answer.StatusCode != http.StatusForbidden || strings.Contains(body, "<html") {
			t.Errorf("%s %s from %s: %s %s", target.Method, target.URL, name, answer.Status, body)
		}
		mayRead(t, target, name, answer)
		if header["Origin"] == "" {
			continue
		}
		preflight := Target{Method: http.MethodOptions, URL: target.URL, Header: map[string]string{
			"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-amz-target",
		}}
		answer, _ = send(t, preflight, header)
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("preflight of %s from %s: %s", target.URL, name, answer.Status)
		}
		mayRead(t, preflight, name, answer)
	}
}

// mayRead fails the test if an answer lets the page read it.
func mayRead(t *testing.T, target Target, name string, answer *http.Response) {
	t.Helper()
	for header := range answer.Header {
		if strings.HasPrefix(header, "Access-Control-") {
			t.Errorf("%s from %s is answered with %s", target.URL, name, header)
		}
	}
}

// Send sends the request as the program does, and returns status and body.
func Send(t *testing.T, target Target) (status int, body string) {
	t.Helper()
	answer, body := send(t, target, nil)
	return answer.StatusCode, body
}

func send(t *testing.T, target Target, foreign map[string]string) (*http.Response, string) {
	t.Helper()
	method := target.Method
	if method == "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target.URL, strings.NewReader(target.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, headers := range []map[string]string{target.Header, foreign} {
		for name, value := range headers {
			r.Header.Set(name, value)
		}
	}
	if host := foreign["Host"]; host != "" {
		r.Host = host
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}
