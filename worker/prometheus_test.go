package worker_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/worker"
)

func newExposed(t *testing.T, name string) *worker.Worker {
	t.Helper()
	client := sqs.New(sqs.Options{Region: "eu-west-1"})
	w, err := worker.New(client, &worker.Options{
		QueueURL: "https://sqs.eu-west-1.amazonaws.com/123456789012/orders", Name: name,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// scrape returns what Prometheus would get.
func scrape(t *testing.T, w *worker.Worker) string {
	t.Helper()
	answer := httptest.NewRecorder()
	w.Health().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("status %d, %v", answer.Code, answer.Header())
	}
	return answer.Body.String()
}

var (
	sampleLine  = regexp.MustCompile(`^[a-z_]+\{([a-z]+="(\\.|[^"\\])*",?)+\} (\+Inf|[0-9.e+-]+)$`)
	commentLine = regexp.MustCompile(`^# (HELP|TYPE) sqsafe_[a-z_]+ .+$`)
)

func TestMetricsForPrometheus(t *testing.T) {
	t.Parallel()
	w := newExposed(t, `an "odd" name\`)
	report := handler.Report{
		Messages: 4, Runs: 3, Sent: 1, Unsent: 1, Unsettled: 2, BreakerOpen: true,
		Counts: []handler.Count{
			{Outcome: handler.OutcomeDone, N: 2},
			{Outcome: handler.OutcomeRetry, Class: fault.ClassRetryable, Reason: "timeout", N: 1},
			{Outcome: handler.OutcomeDead, Class: fault.ClassPermanent, Reason: "Köln\n", N: 1},
		},
		Jobs: []handler.JobReport{
			{Outcome: handler.OutcomeDone, Ran: true, Run: 70 * time.Millisecond, Age: 2 * time.Second, Budget: 1},
			{Outcome: handler.OutcomeDone, Ran: true, Run: 2 * time.Second, Age: time.Hour},
			{Outcome: handler.OutcomeRetry, Reason: "timeout", Ran: true, Run: time.Minute, Age: time.Minute},
			{Outcome: handler.OutcomeDead, Reason: "Köln\n"},
		},
	}
	w.OnBatch(t.Context(), report)
	w.OnBatch(t.Context(), handler.Report{}) // a batch without messages is none
	text := scrape(t, w)
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); !sampleLine.MatchString(line) && !commentLine.MatchString(line) {
			t.Errorf("line %q is not of the format", line)
		}
	}
	queue := `queue="an \"odd\" name\\"`
	for _, want := range []string{
		`sqsafe_batches_total{` + queue + `} 1`,
		`sqsafe_messages_total{` + queue + `,outcome="done"} 2`,
		`sqsafe_messages_total{` + queue + `,outcome="retry",reason="timeout"} 1`,
		`sqsafe_messages_total{` + queue + `,outcome="dead",reason="other"} 1`,
		`sqsafe_dead_letters_total{` + queue + `} 1`,
		`sqsafe_dead_letters_failed_total{` + queue + `} 1`,
		`sqsafe_settle_failed_total{` + queue + `} 2`,
		`sqsafe_breaker_open{` + queue + `} 1`,
		`sqsafe_run_seconds_bucket{` + queue + `,outcome="done",le="0.05"} 0`,
		`sqsafe_run_seconds_bucket{` + queue + `,outcome="done",le="0.1"} 1`,
		`sqsafe_run_seconds_bucket{` + queue + `,outcome="done",le="+Inf"} 2`,
		`sqsafe_run_seconds_sum{` + queue + `,outcome="done"} 2.07`,
		`sqsafe_outcome_seconds_bucket{` + queue + `,outcome="done",le="3600"} 2`,
		`sqsafe_waiting_age_seconds_count{` + queue + `,outcome="retry"} 1`,
		`sqsafe_budget_used_bucket{` + queue + `,outcome="done",le="0"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	w.OnBatch(t.Context(), handler.Report{Messages: 1, Counts: []handler.Count{{Outcome: handler.OutcomeDone, N: 1}}})
	again := scrape(t, w)
	if !strings.Contains(again, `outcome="done"} 3`) || !strings.Contains(again, "breaker_open{"+queue+"} 0") {
		t.Errorf("counters do not go on:\n%s", again)
	}
}

func TestReasonsOfAPayloadMakeNoSeriesForEachJob(t *testing.T) {
	t.Parallel()
	w := newExposed(t, "orders")
	for i := range 10_000 {
		w.OnBatch(t.Context(), handler.Report{Messages: 1, Counts: []handler.Count{
			{Outcome: handler.OutcomeDead, Reason: "order_" + strconv.Itoa(i), N: 1},
		}})
	}
	text := scrape(t, w)
	if n := strings.Count(text, "sqsafe_messages_total{"); n != 51 {
		t.Errorf("%d series, want 50 reasons and other", n)
	}
	if want := fmt.Sprintf(`reason="other"} %d`, 10_000-50); !strings.Contains(text, want) {
		t.Errorf("no %s", want)
	}
}
