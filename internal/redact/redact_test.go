package redact_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/redact"
)

func TestURLsKeepAllButTheirPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "",
		"orders":                                "orders",
		"http://127.0.0.1:4570/1/orders":        "http://127.0.0.1:4570/1/orders",
		"http://host/a@b?c=d@e":                 "http://host/a@b?c=d@e",
		"http://me:secret@host:1/orders":        "http://xxxxx@host:1/orders",
		"https://secret@host":                   "https://xxxxx@host",
		"http://me:secret@host/a@b":             "http://xxxxx@host/a@b",
		"http://me:se@cret@host/":               "http://xxxxx@host/",
		"http://me:se/cret@host/orders":         "http://xxxxx@host/orders",
		"http://me:se cret@host:port/":          "http://xxxxx@host:port/",
		"http://me:%zz@host":                    "http://xxxxx@host",
		"me:secret@host:4570":                   "xxxxx@host:4570",
		"ftp://me:secret@host":                  "ftp://xxxxx@host",
		"http://":                               "http://",
		"://me:secret@host":                     "://xxxxx@host",
		"http:me:secret@host":                   "xxxxx@host",
		"https://sqs.us-east-1.amazonaws.com/1": "https://sqs.us-east-1.amazonaws.com/1",
	} {
		if got := redact.URL(text); got != want {
			t.Errorf("URL(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTextsKeepAllButPasswords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no URL, a@b":                     "no URL, a@b",
		`endpoint "http://me:s@host": no`: `endpoint "http://xxxxx@host": no`,
		"http://u:p@a and http://u:p@b":   "http://xxxxx@a and http://xxxxx@b",
		`"http://u:a\"b@host"`:            `"http://xxxxx@host"`,
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzURL(f *testing.F) {
	for _, seed := range []string{"http://me:secret@host/a@b", "secret@h", "http://a/secret", "//secret:x@h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := redact.URL(text)
		u, err := url.Parse(text)
		if err != nil || u.User == nil || u.Host == "" {
			return
		}
		if again, err := url.Parse(got); err != nil || again.User.String() != redact.Hidden || again.Host != u.Host {
			t.Errorf("URL(%q) = %q", text, got)
		}
		password, _ := u.User.Password()
		elsewhere := strings.Contains(u.Host+u.Path+u.Scheme+u.RawQuery+u.Fragment, password)
		if len(password) > 3 && !elsewhere && strings.Contains(got, password) {
			t.Errorf("URL(%q) = %q has the password", text, got)
		}
	})
}
