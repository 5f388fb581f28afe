package cli

import (
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
	summary(local.Summary, []Row)
}

func (l *Local) newPrinter(streams Streams) printer {
	switch {
	case l.JSON:
		return jsonPrinter{newEncoder(streams.Out)}
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

type jsonPrinter struct{ *json.Encoder }

func (p jsonPrinter) event(e local.Event) { _ = p.Encode(e) }

func (p jsonPrinter) summary(s local.Summary, rows []Row) {
	_ = p.Encode(struct {
		local.Summary
		More map[string]string `json:"more,omitempty"`
	}{s, named(rows)})
}

func named(rows []Row) map[string]string {
	more := map[string]string{}
	for _, r := range rows {
		more[r.Name] = r.Value
	}
	return more
}
