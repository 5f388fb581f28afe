package sqscall

import "strings"

// TraceHeader returns a trace header without its Lineage part, with which Lambda detects
// loops: a message that comes back by way of a dead-letter queue is no loop.
func TraceHeader(header string) string {
	var kept []string
	for part := range strings.SplitSeq(header, ";") {
		if part != "" && !strings.HasPrefix(part, "Lineage=") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ";")
}
