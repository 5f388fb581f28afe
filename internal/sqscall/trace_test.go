package sqscall_test

import (
	"testing"

	"github.com/sqsafe/sqsafe/internal/sqscall"
)

func TestTraceHeader(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                           "",
		"Root=1-5;Sampled=1":         "Root=1-5;Sampled=1",
		"Root=1-5;Lineage=1:a:0":     "Root=1-5",
		"Lineage=1:a:0;Root=1-5;;":   "Root=1-5",
		"Lineage=1:a:0|2:b:1":        "",
		"Root=1-5;NotLineage=1;Self": "Root=1-5;NotLineage=1;Self",
	} {
		if got := sqscall.TraceHeader(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
