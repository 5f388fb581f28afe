package metrics_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/metrics"
)

func TestTheLineIsInTheEmbeddedMetricFormat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		write := metrics.Lines(&out, &metrics.Options{FunctionName: "charge"})
		ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "r-1"})
		write(ctx, handler.Report{
			Queue: "jobs", Messages: 2, Runs: 2, Counts: []handler.Count{{Outcome: handler.OutcomeDone, N: 2}},
		})
		const want = `{"Attempts":2,"BatchTime":0,"Done":2,"FunctionName":"charge","Messages":2,` +
			`"_aws":{"Timestamp":946684800000,"CloudWatchMetrics":[{"Namespace":"sqsafe",` +
			`"Dimensions":[["FunctionName"]],"Metrics":[{"Name":"Messages","Unit":"Count"},` +
			`{"Name":"Attempts","Unit":"Count"},{"Name":"Done","Unit":"Count"},` +
			`{"Name":"BatchTime","Unit":"Milliseconds"}]}]},` +
			`"level":"INFO","message":"batch","queue":"jobs","requestId":"r-1","timestamp":"2000-01-01T00:00:00Z"}` + "\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	})
}

// An alarm on a deployment needs the dead letters of a version. The variable is that
// of the process, so the test does not run beside others.
func TestDeadLettersHaveASeriesByVersion(t *testing.T) { //nolint:paralleltest // see above
	defer func(before string) { lambdacontext.FunctionVersion = before }(lambdacontext.FunctionVersion)
	for version, want := range map[string]string{
		"7":       `{"Namespace":"sqsafe","Dimensions":[["FunctionName","ExecutedVersion"]],"Metrics":[{"Name":"DeadLetterSent","Unit":"Count"}]}`, //nolint:lll // one line
		"$LATEST": "", "": "",
	} {
		lambdacontext.FunctionVersion = version
		for sent, has := range map[int]bool{0: false, 3: want != ""} {
			var out bytes.Buffer
			metrics.Lines(&out, nil)(t.Context(), handler.Report{Messages: 3, Sent: sent})
			if got := strings.Contains(out.String(), "ExecutedVersion"); got != has ||
				has && (!strings.Contains(out.String(), want) || !strings.Contains(out.String(), `"ExecutedVersion":"7"`)) {
				t.Errorf("version %q, %d dead letters: %s", version, sent, out.String())
			}
		}
	}
}

// full returns a report that sets every member of a line.
func full() handler.Report {
	r := handler.Report{Messages: 10000, Runs: 10000, Sent: 1, Unsent: 1, Unsettled: 1, BreakerOpen: true, TimeLeft: 1e9}
	classes := []fault.Class{fault.ClassRetryable, fault.ClassPermanent, fault.ClassUnclassified}
	for outcome := handler.OutcomeNone; outcome <= handler.OutcomeDropped; outcome++ {
		for i, c := range "abcdefghij" {
			r.Counts = append(r.Counts, handler.Count{
				Outcome: outcome, Class: classes[i%len(classes)], Reason: strings.Repeat(string(c), 64), N: 10 - i,
			})
			r.Jobs = append(r.Jobs, handler.JobReport{
				Outcome: outcome, Reason: strings.Repeat(string(c), 64), Ran: true, Run: time.Hour, Age: time.Hour, Budget: 8,
			})
		}
	}
	for i := range 10000 { // many of each, and more reasons than there is room for
		r.Jobs = append(r.Jobs, handler.JobReport{
			Outcome: handler.OutcomeDead, Reason: strings.Repeat(string(rune('a'+i%26)), 64), Ran: true,
			Run: time.Hour, Age: time.Hour,
		})
	}
	return r
}

func TestALineHasAtMost70Metrics(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	metrics.Lines(&out, nil)(t.Context(), full())
	var line struct {
		AWS struct {
			CloudWatchMetrics []struct{ Metrics []json.RawMessage }
		} `json:"_aws"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	// CloudWatch accepts 100 metrics in one directive.
	if n := len(line.AWS.CloudWatchMetrics[0].Metrics); n != 70 || out.Len() > 32<<10 {
		t.Errorf("%d metrics in %d bytes, want 70 in at most 32 KiB", n, out.Len())
	}
}

// TestAMetricHasAtMost100Values: of more, the extremes and an even part of the others stay.
func TestAMetricHasAtMost100Values(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 99, 100, 101, 10000} {
		r := handler.Report{Messages: n}
		for i := range n {
			r.Jobs = append(r.Jobs, handler.JobReport{
				Outcome: handler.OutcomeDone, Ran: true, Run: time.Duration(n-i) * time.Millisecond,
			})
		}
		var out bytes.Buffer
		metrics.Lines(&out, nil)(t.Context(), r)
		var line struct{ RunTime []float64 }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(slices.Values(line.RunTime))
		if len(got) != min(n, 100) || got[0] != 1 || got[len(got)-1] != float64(n) {
			t.Fatalf("of %d values %d from %v to %v", n, len(got), got[0], got[len(got)-1])
		}
		if median := got[len(got)/2]; math.Abs(median-float64(n)/2) > 0.02*float64(n)+1 {
			t.Errorf("of %d values the median is %v", n, median)
		}
	}
}

func TestABatchWithoutMessagesHasNoLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	metrics.Lines(&out, nil)(t.Context(), handler.Report{})
	if out.Len() > 0 {
		t.Errorf("wrote %q", out.String())
	}
}

func TestLinesOfConcurrentInvocationsAreNotMixed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	write := metrics.Lines(&out, nil)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() { write(context.Background(), full()) })
	}
	running.Wait()
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("torn line %q", line)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("pipe closed") }

func TestALineThatCannotBeWrittenIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := &metrics.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	metrics.Lines(broken{}, o)(t.Context(), handler.Report{Messages: 1})
	if !strings.Contains(log.String(), "pipe closed") {
		t.Errorf("log %q", log.String())
	}
}
