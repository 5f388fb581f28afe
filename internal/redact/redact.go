// Package redact hides the user name and the password of URLs in output and logs.
package redact

import (
	"net/url"
	"regexp"
	"strings"
)

// Hidden replaces the user name and the password.
const Hidden = "xxxxx"

// URL returns the text of a URL, which may be malformed, without user name and password.
func URL(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if u.User == nil {
			return text // an @ is part of its path or query
		}
		u.User = url.User(Hidden)
		return u.String()
	}
	at := strings.LastIndex(text, "@")
	if at < 0 {
		return text
	}
	start := 0
	if i := strings.Index(text, "://"); i >= 0 && i < at {
		start = i + len("://")
	}
	return text[:start] + Hidden + text[at:]
}

var credentials = regexp.MustCompile(`://\S*@`)

// Text returns the text without the user names and passwords of its URLs. It hides all that
// is between :// and the last @ before a space, which may be more than necessary.
func Text(text string) string { return credentials.ReplaceAllString(text, "://"+Hidden+"@") }
