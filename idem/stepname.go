package idem

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestStep is the longest name that is recorded, in bytes.
const longestStep = 64

const (
	// stepHashBytes is how many bytes of the hash a recorded name has.
	stepHashBytes = 16
	// stepHashMark comes before the hash. No name that is recorded as it is has it,
	// so that the two kinds never meet.
	stepHashMark = "~"
)

// recordedName is the name under which a step is recorded, and that its key ends
// with: the name itself where it can be both, and else a readable begin of it and
// its hash. Items of older versions have only names of the first kind.
func recordedName(name string) string {
	if len(name) <= longestStep && plainName(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:stepHashBytes])
	readable := name[:min(len(name), longestStep-len(stepHashMark)-len(hash))]
	return strings.Map(plainRune, readable) + stepHashMark + hash
}

// plainName keeps names free of the "#" before them in a key, and of all that not
// every receiver of a key takes.
func plainName(name string) bool { return strings.Map(plainRune, name) == name }

// plainRune is what stands for r in a name: r itself, or else an underscore.
func plainRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
		return r
	}
	return '_'
}
