// Package redact hides the user name and the password of URLs in what people read.
package redact

import (
	"net/url"
	"regexp"
	"strings"
)

// Hidden stands where a user name and a password were.
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

// Text returns a text in which URLs have no user name and no password. It hides rather too
// much than too little: what stands between :// and the last @ of a word.
func Text(text string) string { return credentials.ReplaceAllString(text, "://"+Hidden+"@") }
