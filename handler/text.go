package handler

import (
	"fmt"
	"strings"
)

// cut shortens s to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// text is what an error says. Its method may panic, as that of a nil pointer does.
func text(err error) string { return fmt.Sprintf("%v", err) }
