package filter

import (
	"errors"
	"strings"
)

// wildcard is a pattern in which each * matches any text; \* and \\ match * and
// \. It is stored as the pieces between the stars.
type wildcard struct{ pieces []string }

func newWildcard(text string) (wildcard, error) {
	var pieces []string
	var piece strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
			if i == len(text) || text[i] != '*' && text[i] != '\\' {
				return wildcard{}, errors.New(`wildcard: a backslash stands before * or \ only`)
			}
			piece.WriteByte(text[i])
		case c == '*' && piece.Len() == 0 && len(pieces) > 0:
			return wildcard{}, errors.New("wildcard: two * in a row: write one")
		case c == '*':
			pieces = append(pieces, piece.String())
			piece.Reset()
		default:
			piece.WriteByte(c)
		}
	}
	return wildcard{append(pieces, piece.String())}, nil
}

func (w wildcard) accepts(v any) bool {
	text, ok := v.(string)
	if !ok {
		return false
	}
	first, last := w.pieces[0], w.pieces[len(w.pieces)-1]
	if len(w.pieces) == 1 {
		return text == first
	}
	rest, begins := strings.CutPrefix(text, first)
	rest, ends := strings.CutSuffix(rest, last)
	if !begins || !ends {
		return false
	}
	for _, piece := range w.pieces[1 : len(w.pieces)-1] {
		// The first match leaves the most text for the pieces after it.
		_, after, found := strings.Cut(rest, piece)
		if !found {
			return false
		}
		rest = after
	}
	return true
}
