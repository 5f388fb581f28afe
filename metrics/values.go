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
	// N is the value of a metric that a batch has one of.
	N float64
	// Each has the values of a metric that each job has one of, and N is 0; nil for others.
	Each []float64
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
	// RunTime is how long a run took. With a reason, as in "RunTime.timeout", it is that of
	// the failed runs with the reason.
	RunTime = "RunTime"
	// OutcomeTime is the time from the send of a message to the end of its job: done, dead
	// or dropped. WaitingAge is how old a message is whose job has not ended: retry,
	// deferred, busy or unrecorded.
	OutcomeTime = "OutcomeTime"
	WaitingAge  = "WaitingAge"
	// BudgetUsed is how many attempts a job had used at its end.
	BudgetUsed = "BudgetUsed"
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

// set collects values by name.
type set struct{ values []Value }

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
	s.jobs(r.Jobs)
	return s.values
}

// Ended reports whether an outcome is the end of its job.
func Ended(o handler.Outcome) bool {
	return o == handler.OutcomeDone || o == handler.OutcomeDead || o == handler.OutcomeDropped
}

// waiting are the outcomes after which the message comes back.
var waiting = map[handler.Outcome]bool{
	handler.OutcomeRetry: true, handler.OutcomeDeferred: true, handler.OutcomeBusy: true,
	handler.OutcomeUnrecorded: true,
}

// jobs adds what each job has a value of. Reasons are limited as those of the counts are.
func (s *set) jobs(jobs []handler.JobReport) {
	reasons := map[string]bool{}
	var byReason []string
	for i := range jobs {
		j := &jobs[i]
		if j.Ran {
			s.each(RunTime, Milliseconds, milliseconds(j.Run))
		}
		if name := Reason(j.Reason); j.Ran && failed[j.Outcome] && !reasons[name] {
			reasons[name] = true
			byReason = append(byReason, name)
		}
		switch {
		case j.Age > 0 && Ended(j.Outcome):
			s.each(OutcomeTime, Milliseconds, milliseconds(j.Age))
		case j.Age > 0 && waiting[j.Outcome]:
			s.each(WaitingAge, Milliseconds, milliseconds(j.Age))
		}
		if Ended(j.Outcome) && j.Ran {
			s.each(BudgetUsed, Count, float64(j.Budget))
		}
	}
	kept := map[string]bool{}
	for _, name := range byReason[:min(len(byReason), MaxReasons)] {
		kept[name] = true
	}
	for i := range jobs {
		if j := &jobs[i]; j.Ran && failed[j.Outcome] {
			name := Reason(j.Reason)
			if !kept[name] {
				name = OtherReason
			}
			s.each(RunTime+"."+name, Milliseconds, milliseconds(j.Run))
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Milliseconds()) }

// each adds a value to a metric that each job has one of.
func (s *set) each(name string, unit Unit, n float64) {
	i := slices.IndexFunc(s.values, func(v Value) bool { return v.Name == name })
	if i < 0 {
		i = len(s.values)
		s.values = append(s.values, Value{Name: name, Unit: unit})
	}
	s.values[i].Each = append(s.values[i].Each, n)
}

// Reason returns the reason as the part of a metric's name, or [OtherReason] if it cannot be
// one.
func Reason(reason string) string {
	if word(reason) {
		return reason
	}
	return OtherReason
}

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
		reason := Reason(c.Reason)
		if i >= MaxReasons {
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
