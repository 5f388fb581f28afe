package cli

import (
	"context"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/dlqui"
)

// pageFunctions pauses and resumes functions for the page.
type pageFunctions struct {
	command *DLQUI
	byQueue map[*dlqui.Queue]*session
}

func newMappings(rows []mappingRow) []dlqui.Mapping {
	list := make([]dlqui.Mapping, len(rows))
	for i, row := range rows {
		list[i] = dlqui.Mapping{Queue: row.Queue, Function: row.Function, State: row.State, Expires: row.Expires}
	}
	return list
}

// Mappings returns the event source mappings of the source queues.
func (f *pageFunctions) Mappings(ctx context.Context, q *dlqui.Queue) ([]dlqui.Mapping, error) {
	m, err := f.command.mappings(ctx, f.byQueue[q], &f.command.LambdaTarget)
	if err != nil {
		return nil, err
	}
	return newMappings(m.rows(ctx)), nil
}

// Set enables or disables them.
func (f *pageFunctions) Set(ctx context.Context, q *dlqui.Queue, enabled bool) ([]dlqui.Mapping, error) {
	m, err := f.command.mappings(ctx, f.byQueue[q], &f.command.LambdaTarget)
	if err != nil {
		return nil, err
	}
	var rows []mappingRow
	_, err = m.set(ctx, enabled, 0, func(_ *deadletters.Queue, row mappingRow) { rows = append(rows, row) })
	return newMappings(rows), err
}

// pageLogs returns where the page finds the log lines of a letter's job: in what a local
// stack has told, or in CloudWatch Logs; nil if there is neither.
func (u *DLQUI) pageLogs() func(context.Context, *dlqui.Queue, *deadletters.Letter) ([]dlqui.LogLine, error) {
	if feed := u.feed; feed != nil {
		return func(_ context.Context, _ *dlqui.Queue, l *deadletters.Letter) ([]dlqui.LogLine, error) {
			return dlqui.LiveLogs(feed, l), nil
		}
	}
	if !u.AWS && u.EndpointLogs == "" {
		return nil
	}
	return func(ctx context.Context, _ *dlqui.Queue, l *deadletters.Letter) ([]dlqui.LogLine, error) {
		found, err := u.lines(ctx, &u.DLQTarget, l)
		if err != nil {
			return nil, u.Account.explain(err, "CloudWatch Logs", u.EndpointLogs, "--endpoint-logs")
		}
		lines := make([]dlqui.LogLine, len(found))
		for i, line := range found {
			lines[i] = dlqui.LogLine{Time: line.Time, Text: line.Line}
		}
		return lines, nil
	}
}
