package sqsmetrics

import (
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
)

// activeFor is how long SQS publishes after the last action, as AWS documents it.
const activeFor = 6 * time.Hour

// MaxWakeDelay is how late the metrics of a queue can be that has not been
// active, as AWS documents it.
const MaxWakeDelay = 15 * time.Minute

// Sample is a queue at the end of a minute and what happened to it meanwhile.
// The zero value is an empty queue that nobody touched.
type Sample struct {
	// Visible, NotVisible and Delayed count messages; NotVisible are in flight.
	Visible, NotVisible, Delayed int
	// OldestAge is the age of the oldest message, without those that SQS leaves
	// out because they were received three times or more; 0 for none.
	OldestAge time.Duration
	// Sent, Received and Deleted count messages. Sent does not have those that a
	// redrive policy moves here.
	Sent, Received, Deleted int
	// EmptyReceives count the receives that brought nothing. A Lambda event source
	// makes some every minute and so keeps its queue active.
	EmptyReceives int
}

// Queue is what SQS publishes about one queue. The zero value, but for its
// name, is one that was never active. It is not safe for concurrent use.
type Queue struct {
	// Name is the value of the metrics' dimension QueueName.
	Name string
	// WakeDelay is how long nothing is published after the queue became active,
	// from 0 to [MaxWakeDelay]. What happens meanwhile shows in the counts of
	// messages only.
	WakeDelay time.Duration

	last   Sample
	acted  time.Time // the last minute with an action
	awake  time.Time // the minute of activation
	active bool
}

// Publish gives the datapoints of a minute. Minutes come in their order; those
// without a sample count as minutes without an action.
func (q *Queue) Publish(minute time.Time, s Sample) []alarm.Datapoint {
	minute = minute.Truncate(time.Minute)
	touched := s.Sent+s.Received+s.Deleted+s.EmptyReceives > 0 || q.moved(s)
	q.last = s
	if q.active && minute.Sub(q.acted) > activeFor {
		q.active = false
	}
	if touched {
		if !q.active {
			q.active, q.awake = true, minute
		}
		q.acted = minute
	}
	if !q.active || minute.Sub(q.awake) < q.WakeDelay {
		return nil
	}
	return q.datapoints(minute, s)
}

// moved tells whether the messages changed, as by a move from another queue.
func (q *Queue) moved(s Sample) bool {
	return s.Visible != q.last.Visible || s.NotVisible != q.last.NotVisible || s.Delayed != q.last.Delayed
}

// datapoints are those of an active queue. SQS has the counters and the visible
// messages always, the others only where there is something to report.
func (q *Queue) datapoints(minute time.Time, s Sample) []alarm.Datapoint {
	var points []alarm.Datapoint
	add := func(name string, value float64, reported bool) {
		if reported {
			points = append(points, alarm.Value(Metric(name, q.Name), minute, value))
		}
	}
	add("ApproximateNumberOfMessagesVisible", float64(s.Visible), true)
	add("ApproximateNumberOfMessagesNotVisible", float64(s.NotVisible), s.NotVisible > 0)
	add("ApproximateNumberOfMessagesDelayed", float64(s.Delayed), s.Delayed > 0)
	add("ApproximateAgeOfOldestMessage", s.OldestAge.Seconds(), s.OldestAge > 0)
	add("NumberOfMessagesSent", float64(s.Sent), true)
	add("NumberOfMessagesReceived", float64(s.Received), true)
	add("NumberOfMessagesDeleted", float64(s.Deleted), true)
	add("NumberOfEmptyReceives", float64(s.EmptyReceives), true)
	return points
}

// Metric is SQS's metric of a name for a queue.
func Metric(name, queue string) alarm.Metric {
	return alarm.Metric{
		Namespace: "AWS/SQS", Name: name,
		Dimensions: []alarm.Dimension{{Name: "QueueName", Value: queue}},
	}
}
