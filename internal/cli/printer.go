package cli

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/sqsafe/sqsafe/internal/local"
)

// Row is a row of the table at the end.
type Row struct {
	Name  string
	Value string
	// Good says how the value is coloured; nil means without colour.
	Good *bool
}

// printer prints events. Its calls do not overlap.
type printer interface {
	event(local.Event)
	// flush writes what was printed: lines are collected, since a function may print a
	// million of them.
	flush()
	// summary prints the end and flushes.
	summary(local.Summary, []Row)
}

// printBuffer is how many bytes are written together.
const printBuffer = 64 << 10

func (l *Local) newPrinter(streams Streams) printer {
	switch {
	case l.JSON:
		buffer := bufio.NewWriterSize(streams.Out, printBuffer)
		return jsonPrinter{newEncoder(buffer), buffer}
	case l.Env:
		return envPrinter{streams.Out, streams.Err}
	}
	return newTextPrinter(streams.Out)
}

// newEncoder returns an encoder that writes one JSON value per line.
func newEncoder(out io.Writer) *json.Encoder {
	encoder := json.NewEncoder(jsonWriter{out})
	encoder.SetEscapeHTML(false)
	return encoder
}

type jsonPrinter struct {
	*json.Encoder
	buffer *bufio.Writer
}

func (p jsonPrinter) event(e local.Event) { _ = p.Encode(e) }

func (p jsonPrinter) flush() { _ = p.buffer.Flush() } // the command's output keeps the error

func (p jsonPrinter) summary(s local.Summary, rows []Row) {
	_ = p.Encode(struct {
		local.Summary
		More map[string]string `json:"more,omitempty"`
	}{s, named(rows)})
	p.flush()
}

func named(rows []Row) map[string]string {
	more := map[string]string{}
	for _, r := range rows {
		more[r.Name] = r.Value
	}
	return more
}
