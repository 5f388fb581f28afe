package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// DLQLogs are the flags for the log lines of a letter's job.
type DLQLogs struct {
	Logs bool `help:"Show also the lines of the function's log that name the message or one of its invocations."`
	LogsTarget
}

// LogsTarget selects the log of a function.
type LogsTarget struct {
	LogGroup     string `placeholder:"NAME" help:"Log group of the function; /aws/lambda/FUNCTION without it."`
	EndpointLogs string `name:"endpoint-logs" placeholder:"URL" help:"CloudWatch Logs of another engine."`
}

// check refuses logs where there are none.
func (l *DLQLogs) check(t *DLQTarget) error {
	if l.Logs && !t.AWS && l.EndpointLogs == "" {
		return fmt.Errorf("--logs reads CloudWatch Logs, which the local stack does not have; for AWS add --aws")
	}
	return nil
}

// logLine is a line of the log.
type logLine struct {
	Time time.Time `json:"time"`
	Line string    `json:"line"`
}

const (
	// logMargin is how long before the first and after the last failure lines are looked for.
	logMargin = 2 * time.Minute
	// maxLogLines bounds what is shown of a job that has run often.
	maxLogLines = 200
	// maxLogTerms is how many terms a filter pattern has at most, so that it is no longer
	// than 1,024 characters (CloudWatch Logs, reference of FilterLogEvents).
	maxLogTerms = 20
)

// lines reads the lines of the function's log that belong to the letter's job.
func (l *LogsTarget) lines(ctx context.Context, t *DLQTarget, letter *deadletters.Letter) ([]logLine, error) {
	group := cmp.Or(l.LogGroup, "/aws/lambda/"+letter.Record.Function)
	if l.LogGroup == "" && letter.Record.Function == "" {
		return nil, fmt.Errorf("the letter does not name its function; name the log group with --log-group")
	}
	c, err := t.config(ctx, l.EndpointLogs, "")
	if err != nil {
		return nil, err
	}
	client := cloudwatchlogs.NewFromConfig(c, func(o *cloudwatchlogs.Options) {
		if l.EndpointLogs != "" {
			o.BaseEndpoint = aws.String(l.EndpointLogs)
		}
	})
	from, to := letter.Record.First.Time, letter.Died()
	if from.IsZero() {
		from = letter.Sent
	}
	in := &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: &group, FilterPattern: aws.String(logPattern(letter)),
		StartTime: aws.Int64(from.Add(-logMargin).UnixMilli()), EndTime: aws.Int64(to.Add(logMargin).UnixMilli()),
	}
	var lines []logLine
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(client, in)
	for pages.HasMorePages() && len(lines) < maxLogLines {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		lines = append(lines, logLines(page.Events)...)
	}
	slices.SortStableFunc(lines, func(a, b logLine) int { return a.Time.Compare(b.Time) })
	return lines[:min(len(lines), maxLogLines)], nil
}

func logLines(events []types.FilteredLogEvent) []logLine {
	lines := make([]logLine, len(events))
	for i, e := range events {
		lines[i] = logLine{
			Time: time.UnixMilli(aws.ToInt64(e.Timestamp)).UTC(), Line: strings.TrimRight(aws.ToString(e.Message), "\n"),
		}
	}
	return lines
}

// logPattern matches lines with one of the ids of the message or of its invocations.
func logPattern(l *deadletters.Letter) string {
	var pattern []string
	for _, term := range l.LogTerms() {
		if quoted, err := json.Marshal(term); err == nil && len(pattern) < maxLogTerms {
			pattern = append(pattern, "?"+string(quoted))
		}
	}
	return strings.Join(pattern, " ")
}
