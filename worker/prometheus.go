package worker

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/metrics"
)

// maxReasonLabels is how many reasons have a series of their own, in the life of a process.
// Later ones count as "other".
const maxReasonLabels = 50

// Upper bounds of the histograms. SQS keeps a message for up to 14 days.
var (
	runBounds    = []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600}
	ageBounds    = []float64{0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400, 345600}
	budgetBounds = []float64{0, 1, 2, 3, 4, 6, 8, 12}
)

// exposition has the metrics of a worker for Prometheus, from its start on. It is safe for
// concurrent use.
type exposition struct {
	queue string

	mu       sync.Mutex
	counters map[sample]float64
	breaker  float64
	// histograms are by family and outcome.
	histograms map[sample]*histogram
	reasons    map[string]bool
}

// sample is a series of a family. Its labels beside queue are outcome and reason, or empty.
type sample struct{ family, outcome, reason string }

// histogram counts values by upper bounds.
type histogram struct {
	bounds []float64
	counts []uint64
	count  uint64
	sum    float64
}

func (h *histogram) add(n float64) {
	for i, bound := range h.bounds {
		if n <= bound {
			h.counts[i]++
		}
	}
	h.count++
	h.sum += n
}

// The families, with their help texts.
var families = []struct{ name, kind, help string }{
	{"sqsafe_messages_total", "counter", "Messages by outcome and reason."},
	{"sqsafe_batches_total", "counter", "Batches."},
	{"sqsafe_dead_letters_total", "counter", "Dead letters that the dead-letter queue confirmed."},
	{"sqsafe_dead_letters_failed_total", "counter", "Dead letters that were not confirmed; their messages come back."},
	{"sqsafe_settle_failed_total", "counter", "Messages whose visibility was not changed, or that were not deleted."},
	{"sqsafe_breaker_open", "gauge", "Whether the breaker was open at the end of the last batch."},
	{"sqsafe_run_seconds", "histogram", "How long runs took, by outcome."},
	{"sqsafe_outcome_seconds", "histogram", "Time from the send of a message to the end of its job, by outcome."},
	{"sqsafe_waiting_age_seconds", "histogram", "Age of messages whose job has not ended, by outcome."},
	{"sqsafe_budget_used", "histogram", "Attempts that jobs had used at their end, by outcome."},
}

// Metrics answers with the metrics of the worker in the text format of Prometheus, from the
// start of the process on. [Worker.OnBatch] must be a hook of the processor. It is part of
// [Worker.Health] under /metrics.
func (w *Worker) Metrics() http.Handler { return &w.metrics }

// add adds a batch.
func (e *exposition) add(r handler.Report) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counters == nil {
		e.counters, e.histograms, e.reasons = map[sample]float64{}, map[sample]*histogram{}, map[string]bool{}
	}
	e.counters[sample{family: "sqsafe_batches_total"}]++
	for _, c := range r.Counts {
		e.counters[sample{"sqsafe_messages_total", c.Outcome.String(), e.reason(c.Reason)}] += float64(c.N)
	}
	e.counters[sample{family: "sqsafe_dead_letters_total"}] += float64(r.Sent)
	e.counters[sample{family: "sqsafe_dead_letters_failed_total"}] += float64(r.Unsent)
	e.counters[sample{family: "sqsafe_settle_failed_total"}] += float64(r.Unsettled)
	if e.breaker = 0; r.BreakerOpen {
		e.breaker = 1
	}
	for i := range r.Jobs {
		e.job(&r.Jobs[i])
	}
}

func (e *exposition) job(j *handler.JobReport) {
	outcome, ended := j.Outcome.String(), metrics.Ended(j.Outcome)
	if j.Ran {
		e.observe(sample{family: "sqsafe_run_seconds", outcome: outcome}, runBounds, j.Run.Seconds())
	}
	switch {
	case j.Age <= 0 || j.Outcome == handler.OutcomeDuplicate:
	case ended:
		e.observe(sample{family: "sqsafe_outcome_seconds", outcome: outcome}, ageBounds, j.Age.Seconds())
	default:
		e.observe(sample{family: "sqsafe_waiting_age_seconds", outcome: outcome}, ageBounds, j.Age.Seconds())
	}
	if ended && j.Ran {
		e.observe(sample{family: "sqsafe_budget_used", outcome: outcome}, budgetBounds, float64(j.Budget))
	}
}

func (e *exposition) observe(key sample, bounds []float64, n float64) {
	h := e.histograms[key]
	if h == nil {
		h = &histogram{bounds: bounds, counts: make([]uint64, len(bounds))}
		e.histograms[key] = h
	}
	h.add(n)
}

// reason returns the label of a reason. A reason made of a payload cannot make a series for
// each job.
func (e *exposition) reason(reason string) string {
	if reason == "" {
		return ""
	}
	reason = metrics.Reason(reason)
	if !e.reasons[reason] && len(e.reasons) >= maxReasonLabels {
		return metrics.OtherReason
	}
	e.reasons[reason] = true
	return reason
}

// ServeHTTP answers with the text format of Prometheus, version 0.0.4.
func (e *exposition) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, e.text())
}

func (e *exposition) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, f := range families {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		switch f.kind {
		case "gauge":
			e.line(&b, f.name, sample{}, "", e.breaker)
		case "counter":
			for _, key := range of(f.name, e.counters) {
				e.line(&b, f.name, key, "", e.counters[key])
			}
		case "histogram":
			for _, key := range of(f.name, e.histograms) {
				e.histogram(&b, f.name, key, e.histograms[key])
			}
		}
	}
	return b.String()
}

// of returns the series of a family, in order.
func of[T any](family string, all map[sample]T) []sample {
	return slices.SortedFunc(func(yield func(sample) bool) {
		for key := range maps.Keys(all) {
			if key.family == family && !yield(key) {
				return
			}
		}
	}, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.reason, b.reason))
	})
}

func (e *exposition) histogram(b *strings.Builder, name string, key sample, h *histogram) {
	for i, bound := range h.bounds {
		e.line(b, name+"_bucket", key, number(bound), float64(h.counts[i]))
	}
	e.line(b, name+"_bucket", key, number(math.Inf(1)), float64(h.count))
	e.line(b, name+"_sum", key, "", h.sum)
	e.line(b, name+"_count", key, "", float64(h.count))
}

// line writes a sample. Outcomes and reasons have only small letters, digits and "_", and a
// queue's name has nothing to escape; the name of a worker may.
func (e *exposition) line(b *strings.Builder, name string, key sample, bound string, n float64) {
	labels := []string{"queue=" + escaped(e.queue)}
	for _, label := range [...]struct{ name, value string }{
		{"outcome", key.outcome}, {"reason", key.reason}, {"le", bound},
	} {
		if label.value != "" {
			labels = append(labels, label.name+"="+escaped(label.value))
		}
	}
	fmt.Fprintf(b, "%s{%s} %s\n", name, strings.Join(labels, ","), number(n))
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func escaped(value string) string { return `"` + labelEscapes.Replace(value) + `"` }

func number(n float64) string {
	if math.IsInf(n, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}
