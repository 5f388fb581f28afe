package metrics

import (
	"cmp"
	"slices"
	"time"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// Unit is the name of a unit in CloudWatch.
type Unit string

// The units used by this package.
const (
	Count        Unit = "Count"
	Milliseconds Unit = "Milliseconds"
)

// Value is one metric of a batch.
type Value struct {
	Name string
	Unit Unit
	N    float64
}

// Names of metrics. A failed run counts under its outcome, under its class, and
// under its outcome and reason: "Dead", "Permanent" and "Dead.validation".
const (
	// Messages is the size of the batch. Attempts is how many of its messages
	// the function ran for.
	Messages = "Messages"
	Attempts = "Attempts"
	// DeadLetterSent counts the dead letters that the dead-letter queue
	// confirmed, DeadLetterFailed those that it did not.
	DeadLetterSent   = "DeadLetterSent"
	DeadLetterFailed = "DeadLetterFailed"
	// SettleFailed counts messages whose visibility timeout could not be
	// changed, and messages that could not be deleted before a crash.
	SettleFailed = "SettleFailed"
	// BreakerOpen is 1 if the rest of the batch was returned without running.
	BreakerOpen = "BreakerOpen"
	// BatchTime is how long the batch took. TimeLeft is the time left until the
	// deadline.
	BatchTime = "BatchTime"
	TimeLeft  = "TimeLeft"
	// Workers counts the running workers of a queue: each sends 1 every minute,
	// also when there are no jobs. It is no metric of a batch.
	Workers = "Workers"
	// OtherReason replaces the reason in metric names beyond [MaxReasons].
	OtherReason = "other"
)

// MaxReasons is the maximum number of metrics by reason for one batch, so that
// a reason made from a payload cannot make a metric for each job.
const MaxReasons = 20

var outcomeNames = map[handler.Outcome]string{
	handler.OutcomeDone: "Done", handler.OutcomeDuplicate: "Duplicate", handler.OutcomeRetry: "Retry",
	handler.OutcomeBusy: "Busy", handler.OutcomeUnrecorded: "Unrecorded", handler.OutcomeDead: "Dead",
	handler.OutcomeDropped: "Dropped", handler.OutcomeDeferred: "Deferred", handler.OutcomeCrash: "Crash",
	handler.OutcomeNone: "None",
}

var classNames = map[fault.Class]string{
	fault.ClassRetryable: "Retryable", fault.ClassPermanent: "Permanent", fault.ClassUnclassified: "Unclassified",
}

// failed are the outcomes caused by an error: they count by class and reason.
var failed = map[handler.Outcome]bool{
	handler.OutcomeRetry: true, handler.OutcomeDead: true, handler.OutcomeDropped: true, handler.OutcomeCrash: true,
}

// Values returns the metrics of a batch in a stable order. Counts of zero are
// left out: CloudWatch does not charge for a metric that was never written.
func Values(r handler.Report) []Value {
	s := set{}
	s.add(Messages, r.Messages)
	s.add(Attempts, r.Runs)
	s.outcomes(r.Counts)
	s.add(DeadLetterSent, r.Sent)
	s.add(DeadLetterFailed, r.Unsent)
	s.add(SettleFailed, r.Unsettled)
	if r.BreakerOpen {
		s.add(BreakerOpen, 1)
	}
	s.duration(BatchTime, r.Took)
	if r.TimeLeft > 0 {
		s.duration(TimeLeft, r.TimeLeft)
	}
	return s.values
}

// set collects values by name.
type set struct{ values []Value }

func (s *set) outcomes(counts []handler.Count) {
	for _, c := range counts {
		s.add(outcomeNames[c.Outcome], c.N)
	}
	for _, c := range counts {
		if failed[c.Outcome] {
			s.add(classNames[c.Class], c.N)
		}
	}
	counts = slices.DeleteFunc(slices.Clone(counts), func(c handler.Count) bool { return !failed[c.Outcome] })
	slices.SortStableFunc(counts, func(x, y handler.Count) int { return cmp.Compare(y.N, x.N) })
	for i, c := range counts {
		reason := c.Reason
		if i >= MaxReasons || !word(reason) {
			reason = OtherReason
		}
		s.add(outcomeNames[c.Outcome]+"."+reason, c.N)
	}
}

// word reports whether a reason may be part of a metric's name.
func word(reason string) bool {
	for _, r := range reason {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return reason != "" && len(reason) <= maxWord
}

// maxWord keeps names far below the 255 characters that CloudWatch accepts.
const maxWord = 64

func (s *set) add(name string, n int) {
	if n == 0 {
		return
	}
	i := slices.IndexFunc(s.values, func(v Value) bool { return v.Name == name })
	if i < 0 {
		s.values = append(s.values, Value{Name: name, Unit: Count, N: float64(n)})
		return
	}
	s.values[i].N += float64(n)
}

func (s *set) duration(name string, d time.Duration) {
	s.values = append(s.values, Value{Name: name, Unit: Milliseconds, N: float64(d.Milliseconds())})
}
