package metrics

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/handler"
)

const (
	// DefaultNamespace is the default namespace of all metrics.
	DefaultNamespace = "sqsafe"
	// Dimension is the dimension of all metrics. Its value is the name of the
	// function or of the worker's queue.
	Dimension = "FunctionName"
	// VersionDimension is a second dimension, which [DeadLetterSent] has in a
	// series of its own. Its value is the version of the Lambda function, so that an
	// alarm can watch the version that a deployment brings. AWS's own metrics of
	// functions have a dimension of this name.
	VersionDimension = "ExecutedVersion"
	// LogBatch is the log message of a batch's line.
	LogBatch = "batch"
)

// Options are the settings of [Lines]. The zero value works.
type Options struct {
	// Namespace is the namespace of the metrics; empty means [DefaultNamespace].
	Namespace string
	// FunctionName is the value of [Dimension]; empty means the Lambda
	// function's name.
	FunctionName string
	// Logger logs an error when a line cannot be written; nil means
	// slog.Default().
	Logger *slog.Logger
}

// Lines returns a function for [handler.Hooks].OnBatch. For each batch with
// messages it writes one line in the embedded metric format to w. A line has at
// most 70 metrics, of the 100 that CloudWatch takes, whatever the size of the batch. A metric
// that each job has a value of has up to 100 values in a line.
func Lines(w io.Writer, o *Options) func(ctx context.Context, r handler.Report) {
	l := &lines{w: w}
	if o != nil {
		l.options = *o
	}
	if l.options.Namespace == "" {
		l.options.Namespace = DefaultNamespace
	}
	if l.options.FunctionName == "" {
		l.options.FunctionName = lambdacontext.FunctionName
	}
	if l.options.Logger == nil {
		l.options.Logger = slog.Default()
	}
	return l.write
}

type lines struct {
	options Options
	mu      sync.Mutex
	w       io.Writer
}

func (l *lines) write(ctx context.Context, r handler.Report) {
	if r.Messages == 0 {
		return
	}
	line, err := json.Marshal(l.fields(ctx, r, time.Now()))
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, err = l.w.Write(append(line, '\n'))
	}
	if err != nil {
		l.options.Logger.LogAttrs(ctx, slog.LevelWarn, "metrics not written", slog.String("error", err.Error()))
	}
}

// metadata tells CloudWatch which members of the line are metrics.
type metadata struct {
	Timestamp         int64
	CloudWatchMetrics []directive
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct {
	Name string
	Unit Unit
}

// fields returns the members of the line. It has a level because Lambda can
// filter logs by level, and takes a line without one for INFO.
func (l *lines) fields(ctx context.Context, r handler.Report, now time.Time) map[string]any {
	values := Values(r)
	fields := map[string]any{
		"timestamp": now.UTC().Format(time.RFC3339Nano),
		"level":     slog.LevelInfo.String(),
		"message":   LogBatch,
		"queue":     r.Queue,
		Dimension:   l.options.FunctionName,
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		fields["requestId"] = lc.AwsRequestID
	}
	definitions := make([]definition, len(values))
	for i, v := range values {
		definitions[i] = definition{Name: v.Name, Unit: v.Unit}
		if fields[v.Name] = v.N; v.Each != nil {
			fields[v.Name] = some(v.Each)
		}
	}
	directives := []directive{{
		Namespace: l.options.Namespace, Dimensions: [][]string{{Dimension}}, Metrics: definitions,
	}}
	if version := lambdacontext.FunctionVersion; r.Sent > 0 && version != "" && version != latestVersion {
		fields[VersionDimension] = version
		directives = append(directives, directive{
			Namespace: l.options.Namespace, Dimensions: [][]string{{Dimension, VersionDimension}},
			Metrics: []definition{{Name: DeadLetterSent, Unit: Count}},
		})
	}
	fields["_aws"] = metadata{Timestamp: now.UnixMilli(), CloudWatchMetrics: directives}
	return fields
}

// maxValues is how many values a metric may have in one line (CloudWatch, specification of
// the embedded metric format).
const maxValues = 100

// some returns the values, or 100 of them: the smallest, the largest, and 98 at even
// distances in the batch. They are not sorted, which would add to the size of each function.
func some(values []float64) []float64 {
	if len(values) <= maxValues {
		return values
	}
	kept := make([]float64, maxValues)
	for i := range kept {
		kept[i] = values[i*(len(values)-1)/(maxValues-1)]
	}
	kept[0], kept[maxValues-1] = values[0], values[0]
	for _, n := range values {
		kept[0], kept[maxValues-1] = min(kept[0], n), max(kept[maxValues-1], n)
	}
	return kept
}

// latestVersion is the version of a function that is invoked without an alias:
// no deployment shifts its traffic.
const latestVersion = "$LATEST"
