package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"
)

// file is implemented by the streams of a process, and mostly not by those of
// tests.
type file interface{ Fd() uintptr }

func isTerminal(stream any) bool {
	f, ok := stream.(file)
	return ok && term.IsTerminal(f.Fd())
}

// pipeWidth is the maximum width of a table if there is no terminal.
const pipeWidth = 240

// columns returns the width of the terminal in characters; 0 if there is none,
// and lines may have any length.
func columns(stream any) int {
	if f, ok := stream.(file); ok {
		if n, _, err := term.GetSize(f.Fd()); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

// oneLine converts a text to a single line, in which nothing acts on a terminal.
func oneLine(text string) string { return clean(strings.Join(strings.Fields(text), " ")) }

// cut shortens a text to n characters; 0 means no limit.
func cut(text string, n int) string {
	characters := []rune(text)
	if n < 1 || len(characters) <= n {
		return text
	}
	return string(characters[:n-1]) + "…"
}

// progress is a line with a counter on a terminal. Elsewhere it prints nothing.
type progress struct {
	out   *termenv.Output // nil prints nothing
	what  string
	done  int
	total int
	start time.Time
	shown time.Time
}

// progressPause is the minimum time between two updates of the line, and before
// the first one, so that a short command does not print it.
const progressPause = 200 * time.Millisecond

func newProgress(stream io.Writer, what string, total int) *progress {
	p := &progress{what: what, total: total, start: time.Now(), shown: time.Now()}
	if isTerminal(stream) {
		p.out = termenv.NewOutput(stream)
	}
	return p
}

func (p *progress) step() { p.steps(1) }

func (p *progress) steps(n int) {
	p.done += n
	if p.out == nil || time.Since(p.shown) < progressPause {
		return
	}
	p.shown = time.Now()
	rate := float64(p.done) / time.Since(p.start).Seconds()
	fmt.Fprintf(p.out, "\r%s: %d of %d, %.0f/s", p.what, p.done, p.total, rate)
	p.out.ClearLineRight()
}

func (p *progress) clear() {
	if p.out != nil && p.shown != p.start {
		fmt.Fprint(p.out, "\r")
		p.out.ClearLineRight()
	}
}
