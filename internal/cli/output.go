package cli

import (
	"fmt"
	"io"
	"sync"
)

// guarded is an output that remembers the first error of a write: commands print many
// lines, and none of them asks whether it was written.
type guarded struct {
	io.Writer

	mu  sync.Mutex
	err error
}

// guard returns the streams with an output whose errors are kept. A terminal stays as it
// is, since colours and the width are those of the file.
func guard(streams Streams) (Streams, *guarded) {
	g := &guarded{Writer: streams.Out}
	if !isTerminal(streams.Out) {
		streams.Out = g
	}
	return streams, g
}

// Write writes to the output.
func (g *guarded) Write(p []byte) (int, error) {
	n, err := g.Writer.Write(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	return n, err
}

// Close closes the output, if it can be closed.
func (g *guarded) Close() error {
	if c, ok := g.Writer.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// exit returns the exit code of a command: one that succeeded has failed if its output
// was not written.
func (g *guarded) exit(code int, errs io.Writer) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil || code != ExitOK && code != ExitUsage { // kong takes an unwritten help for a wrong flag
		return code
	}
	fmt.Fprintf(errs, "sqsafe: the output is incomplete: %v\n", g.err)
	return ExitFailed
}
