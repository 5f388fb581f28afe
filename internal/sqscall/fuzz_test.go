package sqscall_test

import (
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/sqscall"
)

// A URL is http or https with a host, or refused without its password.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{
		"", "https://sqs.eu-central-1.amazonaws.com/123456789012/jobs", "http://[::1]:4570/1/q", "ftp://h/q", "http://",
		"http://u:secret@/q", "https://u:secret@h:port/q", "//h", "http://h/%zz", "u:secret@h",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := sqscall.ParseURL(raw)
		if (u == nil) == (err == nil) {
			t.Fatalf("%q gives %v and %v, want one of them", raw, u, err)
		}
		if err == nil && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			t.Errorf("%q is accepted as %v", raw, u)
		}
	})
}

// The password of a URL is in no error, wherever the URL is wrong.
func FuzzPassword(f *testing.F) {
	f.Add("ftp://", "h/q")
	f.Add("http://", "h:port/q")
	f.Add("http://", "/q")
	f.Add("http://", "h/%zz")
	f.Add("http://", "[::1/q")
	f.Add("", "h/q")
	f.Fuzz(func(t *testing.T, scheme, rest string) {
		const password = "5ecretW0rd"
		_, err := sqscall.ParseURL(scheme + "user:" + password + "@" + rest)
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("%q and %q: the error shows the password: %v", scheme, rest, err)
		}
	})
}
