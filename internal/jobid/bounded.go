package jobid

import (
	"crypto/sha256"
	"encoding/hex"
)

// Bounded returns s if it is legal and not too long, otherwise as much of its hash as
// fits.
func Bounded(s string, longest int, legal func(string) bool) string {
	if len(s) <= longest && legal(s) {
		return s
	}
	return Hashed(s, longest)
}

// Hashed returns at most n hexadecimal digits of the SHA-256 of s.
func Hashed(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	digits := hex.EncodeToString(sum[:])
	return digits[:min(n, len(digits))]
}

// Visible reports whether s has only ASCII letters, digits and punctuation.
func Visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
