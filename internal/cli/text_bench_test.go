package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/local"
)

// BenchmarkPrintOutput prints a function's lines to a file, as text and as JSON.
func BenchmarkPrintOutput(b *testing.B) {
	for name, asJSON := range map[string]bool{"text": false, "json": true} {
		b.Run(name, func(b *testing.B) {
			out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer out.Close()
			p := (&Local{JSON: asJSON}).newPrinter(Streams{Out: out})
			e := local.Event{Kind: local.KindOutput, Function: "Fn", Line: strings.Repeat("x", 96)}
			for b.Loop() {
				p.event(e)
			}
		})
	}
}
