//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/charmbracelet/x/term"
)

// showProgress keeps a line of it on a terminal until ctx ends. Elsewhere it is quiet.
func showProgress(ctx context.Context, w io.Writer, line func() string) {
	file, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(file.Fd()) {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fmt.Fprintf(w, "\r%-78s", line())
		case <-ctx.Done():
			fmt.Fprintf(w, "\r%78s\r", "")
			return
		}
	}
}
