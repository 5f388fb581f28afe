package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrUnchanged says that an edited payload is as it was.
var ErrUnchanged = errors.New("nothing was changed")

// CheckEdit refuses an edited payload that is as it was ([ErrUnchanged]), that SQS refuses,
// or that is no JSON any more.
func CheckEdit(before, after string) error {
	switch {
	case after == before:
		return ErrUnchanged
	case after == "":
		return errors.New("the edited payload is empty, which SQS refuses")
	case !utf8.ValidString(after):
		return errors.New("the edited payload is no text in UTF-8, which SQS refuses")
	}
	for at, r := range after {
		if !allowed(r) {
			return fmt.Errorf("line %d of the edited payload has the character %U, which SQS refuses", lineAt(after, at), r)
		}
	}
	if !json.Valid([]byte(before)) {
		return nil
	}
	err := json.Unmarshal([]byte(after), new(any))
	if err == nil {
		return nil
	}
	n := strings.Count(after, "\n")
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		n = min(n, strings.Count(after[:min(int(syntax.Offset), len(after))], "\n"))
	}
	return fmt.Errorf("the edited payload is no JSON any more: line %d: %w", n+1, err)
}

// allowed reports whether SQS takes the character in a body (reference of SendMessage).
func allowed(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r != 0xfffe && r != 0xffff
}

func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
