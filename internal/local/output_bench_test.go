package local

import (
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// BenchmarkOutput is the way of a function's line through the journal.
func BenchmarkOutput(b *testing.B) {
	n := 0
	j := newJournal(&stack.Stack{}, Options{Observe: func(Event) { n++ }})
	line := strings.Repeat("x", 96)
	for b.Loop() {
		j.output("Fn", line)
	}
	j.reorder.flush()
	if n < b.N {
		b.Errorf("%d of %d lines", n, b.N)
	}
}
