package metrics_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/metrics"
)

// page returns the part of docs/metrics.md between two markers.
func page(t *testing.T, part string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, began := strings.Cut(string(text), "<!-- begin "+part+" -->")
	rest, _, ended := strings.Cut(rest, "<!-- end "+part+" -->")
	if !began || !ended {
		t.Fatalf("docs/metrics.md has no marks around its %s", part)
	}
	return rest
}

// documented matches a row of the table: metric, unit, what it counts, widgets.
var documented = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| ([A-Za-z]+) \\| ([^|\n]+) \\| ([^|\n]+) \\|$")

func TestDocumentationHasEveryMetric(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, v := range metrics.Values(full()) {
		if !strings.Contains(v.Name, ".") {
			want = append(want, v.Name+" "+string(v.Unit))
		}
	}
	for _, row := range documented.FindAllStringSubmatch(page(t, "metrics"), -1) {
		got = append(got, row[1]+" "+row[2])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/metrics.md is not the list of the code (-code +page):\n%s", diff)
	}
}

func TestDocumentationNamesTheWidgets(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, template, _ := strings.Cut(string(file), "\n  Dashboard:\n")
	template = strings.Join(strings.Fields(template), " ")
	for _, row := range documented.FindAllStringSubmatch(page(t, "metrics"), -1) {
		shown := strings.Contains(template, `["${MetricsNamespace}", "`+row[1]+`", "`+metrics.Dimension+`"`) ||
			strings.Contains(template, `[".", "`+row[1]+`", ".", "${ChargeFunction}"`)
		if named := row[4] != "–"; named != shown {
			t.Errorf("%s: on the dashboard %v, in docs/metrics.md %q", row[1], shown, row[4])
		}
		for title := range strings.SplitSeq(row[4], ", ") {
			if title != "–" && !strings.Contains(template, `"title": "`+title) {
				t.Errorf("%s: no widget's title begins with %q", row[1], title)
			}
		}
	}
}

func TestDocumentationHasTheLine(t *testing.T) {
	t.Parallel()
	want := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(page(t, "line")), "```json"), "```")
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(want)); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		write := metrics.Lines(&out, &metrics.Options{FunctionName: "ChargeFunction"})
		lc := &lambdacontext.LambdaContext{AwsRequestID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}
		write(lambdacontext.NewContext(t.Context(), lc), handler.Report{
			Queue: "ChargeQueue", Messages: 10, Runs: 9, Sent: 1,
			Took: 840 * time.Millisecond, TimeLeft: 29160 * time.Millisecond,
			Counts: []handler.Count{
				{Outcome: handler.OutcomeDone, N: 7},
				{Outcome: handler.OutcomeDuplicate, Reason: "completed", N: 1},
				{Outcome: handler.OutcomeRetry, Class: fault.ClassRetryable, Reason: fault.ReasonTimeout, N: 1},
				{Outcome: handler.OutcomeDead, Class: fault.ClassPermanent, Reason: fault.ReasonValidation, N: 1},
			},
		})
		if diff := cmp.Diff(compact.String()+"\n", out.String()); diff != "" {
			t.Errorf("docs/metrics.md shows another line (-page +code):\n%s", diff)
		}
	})
}
