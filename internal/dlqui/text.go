package dlqui

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// maxShown is how many bytes of a payload a page shows.
const maxShown = 64 << 10

// printable shows a text with its lines and tabs, and what else has no form of its own as in a
// Go string.
func printable(text string) string { return deadletters.Visible(text, "\n\t") }

// line shows a text in one line.
func line(text string) string { return deadletters.Visible(text, "") }

// payload is a body as a page shows it.
type payload struct {
	// Format is JSON, text or bytes.
	Format string
	Text   string
	// Cut says that there is more.
	Cut bool
}

// newPayload formats JSON over several lines, and shows as bytes what is no text.
func newPayload(body string) payload {
	switch pretty, ok := indented(body); {
	case ok:
		text, cut := shorten(pretty, maxShown)
		return payload{"JSON", printable(text), cut}
	case utf8.ValidString(body):
		text, cut := shorten(body, maxShown)
		return payload{"text", printable(text), cut}
	default:
		const shown = maxShown / 5 // a dump is five times as long
		return payload{"bytes", hex.Dump([]byte(body[:min(shown, len(body))])), len(body) > shown}
	}
}

// indented formats a JSON object or array over several lines.
func indented(body string) (string, bool) {
	trimmed := strings.TrimSpace(body)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return "", false
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(trimmed), "", "  ") != nil {
		return "", false
	}
	return b.String(), true
}

// shorten cuts a text at a character.
func shorten(text string, longest int) (string, bool) {
	if len(text) <= longest {
		return text, false
	}
	end := longest
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], true
}

// brief cuts a text for lists.
func brief(text string) string {
	const longest = 200
	short, cut := shorten(line(text), longest)
	if cut {
		short += "…"
	}
	return short
}

// span formats a duration in its two largest units.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < day:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d d %d h", int(d/day), int(d.Hours())%24)
	}
}

// relative says how far a time is from now.
func relative(at, now time.Time) string {
	if at.After(now) {
		return "in " + span(at.Sub(now))
	}
	return span(now.Sub(at)) + " ago"
}
