package dlq

import (
	"testing"
	"unicode/utf8"
)

func TestCleanKeepsWhatSQSTakes(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{'\t', '\n', '\r', ' ', '\x7f', 0x85, 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x1FFFF, 0x10FFFF} {
		if got := clean(string(r)); got != string(r) {
			t.Errorf("%U became %q", r, got)
		}
	}
	for _, r := range []rune{0, 1, 8, 0xB, 0xC, 0xE, 0x1F, 0xFFFE, 0xFFFF} {
		if got := clean(string(r)); got != "\uFFFD" {
			t.Errorf("%U became %q", r, got)
		}
	}
}

func TestPrefixEndsWithAWholeCharacter(t *testing.T) {
	t.Parallel()
	const s = "aé€😀z"
	for n := range len(s) + 2 {
		got := prefix(s, n)
		if len(got) > n || !utf8.ValidString(got) || s[:len(got)] != got {
			t.Errorf("%d bytes of %q: %q", n, s, got)
		}
		if n-len(got) >= utf8.UTFMax {
			t.Errorf("%d bytes of %q: only %q", n, s, got)
		}
	}
}
