package sqsafe

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatGoesToTheReportOfALocalHost tells what the library logs from what the
// function's own code logs, under the same messages and with the same logger.
func TestWhatGoesToTheReportOfALocalHost(t *testing.T) {
	t.Parallel()
	const engine, info = "library: outcome, dead-lettered, hook failed", "library: outcome, dead-lettered"
	tests := []struct {
		name   string
		level  string
		own    func(w, report *bytes.Buffer, lookup lookupFunc) *slog.Logger
		report string
		output string
	}{
		{
			"no logger of its own", "INFO", func(w, report *bytes.Buffer, lookup lookupFunc) *slog.Logger {
				return newLogger(w, lookup, report)
			}, engine, "function: outcome",
		},
		{
			"outcomes are reported whatever the level is", "ERROR",
			func(w, report *bytes.Buffer, lookup lookupFunc) *slog.Logger { return newLogger(w, lookup, report) }, info, "",
		},
		{
			"our format, with attributes and a group", "INFO", func(w, report *bytes.Buffer, lookup lookupFunc) *slog.Logger {
				return newLogger(w, lookup, report).With("messageId", "other").WithGroup("app")
			}, engine, "function: outcome",
		},
		{
			"a format of its own", "INFO", func(w, _ *bytes.Buffer, lookup lookupFunc) *slog.Logger {
				return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: lookup.level()}))
			}, info, "library: dead-lettered, hook failed\nfunction: outcome",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var output, report bytes.Buffer
			lookup := lookupFunc(func(string) (string, bool) { return tt.level, true })
			own := tt.own(&output, &report, lookup)
			library := reporting(own, &report)
			ours := slog.String("messageId", "m1")
			library.Debug("outcome", ours, slog.String("from", "library"))
			library.Info("dead-lettered", ours, slog.String("from", "library"))
			library.Warn("hook failed", slog.String("from", "library"))
			own.Info("outcome", slog.String("messageId", "m1"), slog.String("from", "function"))
			if diff := cmp.Diff(tt.report, messagesOf(t, &report)); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.output, messagesOf(t, &output)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// messagesOf lists the messages of the lines, by who logged them.
func messagesOf(t *testing.T, lines *bytes.Buffer) string {
	t.Helper()
	var list []string
	last := ""
	for line := range strings.Lines(lines.String()) {
		var fields struct {
			Msg, Message, MessageID, From string
			App                           struct{ From string }
		}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		message, from := fields.Msg+fields.Message, fields.From+fields.App.From
		if message != "hook failed" && from == "library" && fields.MessageID != "m1" {
			t.Errorf("line %q does not name the message", line)
		}
		if from != last {
			list = append(list, from+": "+message)
			last = from
			continue
		}
		list[len(list)-1] += ", " + message
	}
	return strings.Join(list, "\n")
}
