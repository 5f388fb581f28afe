package runbook_test

import (
	"fmt"
	"regexp"
	"strings"
)

// queues is the start of queue URLs in the document.
const queues = "https://sqs.eu-central-1.amazonaws.com/111122223333/"

var (
	queuesHere = regexp.MustCompile(`http://[^/\s"]+/111122223333/`)
	// A stack on one line. In the document each frame has its own line.
	stack = regexp.MustCompile(`"stack":"(\\.|[^"\\\n])*"`)
	// What sqsafe says of the machine: folder of journals and archives, user and host.
	journals = regexp.MustCompile(`/\S+/\.local/state/`)
	person   = regexp.MustCompile(`"who":"[^"]+"`)
	// The width of a column depends on how long ago something was.
	padding = regexp.MustCompile(` *│ *`)
	border  = regexp.MustCompile(`─+`)
	// Texts that differ from run to run, in groups with the names of their
	// replacements.
	varying = regexp.MustCompile(strings.Join([]string{
		`(?P<id>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)`,
		`(?P<handle>\b[A-Za-z0-9+/]{40,}=*)`,
		`(?P<hash>\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b)`,
		`(?P<run>\b20[0-9]{6}T[0-9]{6}(-[a-z2-7]{6}|\.[0-9]{3})?\b)`,
		`(?P<age>\b[0-9]+ (s|ms|min|h|d)( [0-9]+ (s|min|h))?\b( ago)?)`,
		`(?P<clock>\b[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?\b)`,
		`(?P<time>\b20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?)`,
		`(?P<fingerprint>"fingerprint":"[0-9a-f]+")`,
		`(?P<sequence>\b[0-9]{20}\b)`,
		`(?P<millis>\b1[0-9]{12}\b)`,
		`(?P<seconds>\b1[0-9]{9}\b)`,
	}, "|"))
)

// presentable returns the output of a block as the document shows it.
func presentable(text string) string {
	text = queuesHere.ReplaceAllString(text, queues)
	text = journals.ReplaceAllString(text, "~/.local/state/")
	text = person.ReplaceAllString(text, `"who":"you@host"`)
	return stack.ReplaceAllString(text, `"stack":"…"`)
}

// stabilizer replaces texts that differ from run to run by names. Equal ids and
// hashes get the same name.
type stabilizer map[string]string

func (s stabilizer) stable(text string) string {
	text = border.ReplaceAllString(padding.ReplaceAllString(presentable(text), "│"), "─")
	return varying.ReplaceAllStringFunc(text, func(found string) string {
		kind := kindOf(found)
		if kind != "id" && kind != "hash" {
			return "<" + kind + ">"
		}
		if s[found] == "" {
			s[found] = fmt.Sprintf("<%s %d>", kind, len(s)+1)
		}
		return s[found]
	})
}

// kindOf returns the name of the group that matches.
func kindOf(found string) string {
	for i, group := range varying.FindStringSubmatch(found) {
		if i > 0 && group != "" && varying.SubexpNames()[i] != "" {
			return varying.SubexpNames()[i]
		}
	}
	return ""
}
