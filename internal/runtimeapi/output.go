package runtimeapi

import (
	"bytes"
	"fmt"
)

// longestLine is the length at which a line of output is split, in bytes.
const longestLine = 1 << 20

// lineWriter splits its input into lines. Only one goroutine uses it at a time.
type lineWriter struct {
	emit   func(line string)
	buffer []byte
	cut    int
}

// Write accepts all of p and never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		w.add(line)
		if !ended {
			return n, nil
		}
		w.end()
		p = rest
	}
}

func (w *lineWriter) add(part []byte) {
	room := min(len(part), longestLine-len(w.buffer))
	w.buffer = append(w.buffer, part[:room]...)
	w.cut += len(part) - room
}

func (w *lineWriter) end() {
	line := string(bytes.TrimSuffix(w.buffer, []byte{'\r'}))
	if w.cut > 0 {
		line += fmt.Sprintf("… (line cut after %d bytes, %d bytes left out)", longestLine, w.cut)
	}
	w.buffer, w.cut = w.buffer[:0], 0
	w.emit(line)
}

// flush emits a last line without a line end.
func (w *lineWriter) flush() {
	if len(w.buffer) > 0 {
		w.end()
	}
}
