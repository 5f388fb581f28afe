package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean returns a text without what would let it act on a terminal, or look like another
// text: sequences of escape codes are taken out, and other control characters and marks
// of direction are written as escapes. Tabs stay. Texts come from functions, messages and
// servers.
func clean(text string) string {
	if !strings.ContainsFunc(text, unclean) {
		return text
	}
	var b strings.Builder
	for _, r := range ansi.Strip(strings.ToValidUTF8(text, "\ufffd")) {
		switch {
		case !unclean(r) || r == utf8.RuneError:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func unclean(r rune) bool {
	if r < 0x7f { // most of all, and the tables of Unicode take time
		return r < ' ' && r != '\t'
	}
	return acts(r) || r == utf8.RuneError
}

// acts reports whether a terminal may take a character for a command, or for a change of
// the direction or the line.
func acts(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// jsonWriter writes JSON in which no character acts on a terminal: it escapes those that
// encoding/json leaves as they are. What the JSON says stays the same.
type jsonWriter struct{ io.Writer }

// Write takes whole values.
func (w jsonWriter) Write(p []byte) (int, error) {
	if i := slices.IndexFunc(p, func(b byte) bool { return b >= 0x7f }); i < 0 || !bytes.ContainsFunc(p[i:], escaped) {
		return w.Writer.Write(p)
	}
	var b bytes.Buffer
	for _, r := range string(p) {
		if escaped(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	if _, err := w.Writer.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escaped leaves out what stands between values and members.
func escaped(r rune) bool { return r >= 0x7f && acts(r) }
