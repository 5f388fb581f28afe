package expression

import (
	_ "embed"
	"strings"
)

// The words that the developer guide lists ("Reserved words in DynamoDB"), one a line.
//
//go:embed reserved.txt
var reservedWords string

var reserved = func() map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(reservedWords) {
		words[w] = true
	}
	return words
}()

func isReserved(name string) bool { return reserved[strings.ToUpper(name)] }
