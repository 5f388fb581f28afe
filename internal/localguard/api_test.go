package localguard_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localguard"
)

// ask sends one request to a guarded port. The header Host is its host; an empty value
// leaves a header out.
func ask(t *testing.T, a localguard.API, method string, header map[string]string) (*http.Response, string) {
	t.Helper()
	server := httptest.NewServer(a.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, secret)
	})))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func TestOnlyProgramsOfThisMachineMayCall(t *testing.T) {
	t.Parallel()
	none := localguard.API{}
	own := localguard.API{Hosts: []string{"host.docker.internal"}, Origins: []string{"http://localhost:3000"}}
	for name, tt := range map[string]struct {
		api    localguard.API
		header map[string]string
		code   string // of the refusal; empty if there is none
	}{
		"by address":           {none, nil, ""},
		"by name":              {none, map[string]string{"Host": "localhost:4570"}, ""},
		"by name, in capitals": {none, map[string]string{"Host": "LOCALHOST"}, ""},
		"another loopback":     {none, map[string]string{"Host": "127.9.9.9:80"}, ""},
		"IPv6":                 {none, map[string]string{"Host": "[::1]:4570"}, ""},
		"IPv6 without a port":  {none, map[string]string{"Host": "[::1]"}, ""},
		"IPv4 in IPv6":         {none, map[string]string{"Host": "[::ffff:127.0.0.1]"}, ""},

		"rebound name":            {none, map[string]string{"Host": "evil.example:4570"}, localguard.CodeHost},
		"name that looks local":   {none, map[string]string{"Host": "localhost.evil.example"}, localguard.CodeHost},
		"name of a container":     {none, map[string]string{"Host": "host.docker.internal:4570"}, localguard.CodeHost},
		"the same, named":         {own, map[string]string{"Host": "host.docker.internal:4570"}, ""},
		"not the one that is":     {own, map[string]string{"Host": "evil.example"}, localguard.CodeHost},
		"address of another host": {none, map[string]string{"Host": "192.0.2.7:4570"}, localguard.CodeHost},
		"all addresses":           {none, map[string]string{"Host": "0.0.0.0:4570"}, localguard.CodeHost},

		"page":                   {none, map[string]string{"Origin": "https://evil.example"}, localguard.CodeOrigin},
		"page without an origin": {none, map[string]string{"Origin": "null"}, localguard.CodeOrigin},
		"page of another port":   {none, map[string]string{"Origin": "http://127.0.0.1:3000"}, localguard.CodeOrigin},
		"page of the port": {
			none, map[string]string{"Host": "localhost", "Origin": "http://localhost"}, localguard.CodeOrigin,
		},
		"own page":            {own, map[string]string{"Origin": "http://localhost:3000"}, ""},
		"beside the own page": {own, map[string]string{"Origin": "http://localhost:3001"}, localguard.CodeOrigin},
		"own page, foreign host": {
			own, map[string]string{"Origin": "http://localhost:3000", "Host": "evil.example"}, localguard.CodeHost,
		},
		"browser, no Origin":      {none, map[string]string{"Sec-Fetch-Site": "cross-site"}, localguard.CodeOrigin},
		"browser, rebound":        {none, map[string]string{"Sec-Fetch-Site": "same-origin"}, localguard.CodeOrigin},
		"address typed by a user": {none, map[string]string{"Sec-Fetch-Site": "none"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{"GET", "POST", "OPTIONS", "PUT"} {
				answer, body := ask(t, tt.api, method, tt.header)
				refused := answer.StatusCode == http.StatusForbidden
				if refused != (tt.code != "") || refused == strings.Contains(body, secret) {
					t.Errorf("%s: %s %s", method, answer.Status, body)
				}
				var refusal struct {
					Type    string `json:"__type"`
					Message string
				}
				if refused && (json.Unmarshal([]byte(body), &refusal) != nil || refusal.Type != tt.code || refusal.Message == "" ||
					answer.Header.Get("Access-Control-Allow-Origin") != "") {
					t.Errorf("%s: %s, headers %v", method, body, answer.Header)
				}
			}
		})
	}
}

func TestAnOwnPageGetsTheAnswersOfCORS(t *testing.T) {
	t.Parallel()
	a := localguard.API{Origins: []string{"http://localhost:3000"}}
	answer, body := ask(t, a, "OPTIONS", map[string]string{
		"Origin": a.Origins[0], "Access-Control-Request-Method": "POST",
		"Access-Control-Request-Headers": "content-type,x-amz-target", "Access-Control-Request-Private-Network": "true",
	})
	if answer.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("preflight: %s %q", answer.Status, body)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": a.Origins[0], "Access-Control-Allow-Methods": "POST, GET",
		"Access-Control-Allow-Headers": "content-type,x-amz-target", "Access-Control-Allow-Private-Network": "true",
		"Access-Control-Max-Age": "600", "Access-Control-Allow-Credentials": "", "Vary": "Origin",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("preflight: %s is %q, want %q", name, got, want)
		}
	}
	answer, body = ask(t, a, "POST", map[string]string{"Origin": a.Origins[0]})
	if body != secret || answer.Header.Get("Access-Control-Allow-Origin") != a.Origins[0] ||
		!strings.Contains(answer.Header.Get("Access-Control-Expose-Headers"), "x-amzn-requestid") {
		t.Errorf("call: %s %q, headers %v", answer.Status, body, answer.Header)
	}
}

func TestAnOriginHasSchemeHostAndPort(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"http://localhost:3000", "https://app.example", "http://[::1]:1"} {
		if err := localguard.CheckOrigin(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{
		"", "*", "null", "localhost:3000", "http://localhost:3000/", "ftp://x", "http://u:p@x", "http://a b",
	} {
		if err := localguard.CheckOrigin(bad); err == nil || !strings.Contains(err.Error(), "http://localhost:3000") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAHostHasNoPort(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"host.docker.internal", "emulators", "10.0.0.7", "fd00::1"} {
		if err := localguard.CheckHost(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "*", "emulators:4570", "http://emulators", "a/b", "a b"} {
		if err := localguard.CheckHost(bad); err == nil || !strings.Contains(err.Error(), "host.docker.internal") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What CheckOrigin accepts is compared with what a browser sends: scheme, host and port.
func FuzzCheckOrigin(f *testing.F) {
	for _, seed := range []string{
		"http://localhost:3000", "https://[::1]", "http://a@b", "http://a/", "null", "*", "http://%41",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if localguard.CheckOrigin(text) != nil {
			return
		}
		if !strings.HasPrefix(text, "http") || strings.ContainsAny(text[8:], "/@?# ") {
			t.Errorf("%q is taken for an origin", text)
		}
	})
}
