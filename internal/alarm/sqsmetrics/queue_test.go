package sqsmetrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/alarm/sqsmetrics"
)

var start = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// published gives the minutes, up to the last, in which there are datapoints,
// as spans. Minutes that samples has nothing for are as the one before, but for
// what happens in it.
func published(q *sqsmetrics.Queue, last int, samples map[int]sqsmetrics.Sample) string {
	var spans []string
	var s sqsmetrics.Sample
	first := -1
	for m := range last + 1 {
		s = sqsmetrics.Sample{Visible: s.Visible, NotVisible: s.NotVisible, Delayed: s.Delayed}
		if given, ok := samples[m]; ok {
			s = given
		}
		points := q.Publish(start.Add(time.Duration(m)*time.Minute), s)
		switch {
		case len(points) > 0 && first < 0:
			first = m
		case len(points) == 0 && first >= 0:
			spans = append(spans, fmt.Sprintf("%d-%d", first, m-1))
			first = -1
		}
	}
	if first >= 0 {
		spans = append(spans, fmt.Sprintf("%d-", first))
	}
	return strings.Join(spans, " ")
}

func TestWhenMetricsArePublished(t *testing.T) {
	t.Parallel()
	const late = sqsmetrics.MaxWakeDelay
	type minutes = map[int]sqsmetrics.Sample
	lies, sent := sqsmetrics.Sample{Visible: 1}, sqsmetrics.Sample{Visible: 1, Sent: 1}
	read := sqsmetrics.Sample{Visible: 1, Received: 1}
	polled := sqsmetrics.Sample{EmptyReceives: 1}
	for name, row := range map[string]struct {
		wake    time.Duration
		samples minutes
		want    string
	}{
		"a queue that nobody touched":        {0, nil, ""},
		"six hours after a send":             {0, minutes{5: sent}, "5-365"},
		"after an empty receive":             {0, minutes{5: polled}, "5-365"},
		"after a delete":                     {0, minutes{5: {Deleted: 1}}, "5-365"},
		"after a move, which is no send":     {0, minutes{5: lies}, "5-365"},
		"when a delay ends":                  {0, minutes{5: {Delayed: 1, Sent: 1}, 8: lies}, "5-368"},
		"a receive prolongs it":              {0, minutes{5: lies, 300: {NotVisible: 1, Received: 1}}, "5-660"},
		"a pause, then a receive":            {0, minutes{5: lies, 500: read}, "5-365 500-"},
		"waking takes time":                  {late, minutes{5: lies}, "20-365"},
		"waking takes time after a pause":    {late, minutes{5: lies, 500: sent}, "20-365 515-"},
		"an active queue need not wake":      {late, minutes{5: lies, 300: sent}, "20-660"},
		"a queue that Lambda polls is awake": {0, minutes{0: polled, 360: polled}, "0-"},
	} {
		if got := published(&sqsmetrics.Queue{Name: "jobs", WakeDelay: row.wake}, 700, row.samples); got != row.want {
			t.Errorf("%s: published in %q, want %q", name, got, row.want)
		}
	}
}

func TestWhatIsPublished(t *testing.T) {
	t.Parallel()
	always := []string{
		"ApproximateNumberOfMessagesVisible 0", "NumberOfEmptyReceives 1", "NumberOfMessagesDeleted 0",
		"NumberOfMessagesReceived 0", "NumberOfMessagesSent 0",
	}
	for name, row := range map[string]struct {
		sample sqsmetrics.Sample
		want   []string
	}{
		"an empty queue": {sqsmetrics.Sample{EmptyReceives: 1}, always},
		"what is zero is left out": {
			sqsmetrics.Sample{EmptyReceives: 1, NotVisible: 3, Delayed: 2, OldestAge: 90 * time.Second},
			append([]string{
				"ApproximateAgeOfOldestMessage 90", "ApproximateNumberOfMessagesDelayed 2",
				"ApproximateNumberOfMessagesNotVisible 3",
			}, always...),
		},
		"all": {
			sqsmetrics.Sample{Visible: 1, NotVisible: 2, Delayed: 3, OldestAge: time.Minute, Sent: 4, Received: 5, Deleted: 6},
			[]string{
				"ApproximateAgeOfOldestMessage 60", "ApproximateNumberOfMessagesDelayed 3",
				"ApproximateNumberOfMessagesNotVisible 2", "ApproximateNumberOfMessagesVisible 1", "NumberOfEmptyReceives 0",
				"NumberOfMessagesDeleted 6", "NumberOfMessagesReceived 5", "NumberOfMessagesSent 4",
			},
		},
	} {
		q := sqsmetrics.Queue{Name: "jobs"}
		var got []string
		for _, p := range q.Publish(start.Add(30*time.Second), row.sample) {
			if p.Metric.Namespace != "AWS/SQS" || p.Metric.Dimensions[0].Value != "jobs" || !p.Time.Equal(start) {
				t.Errorf("%s: the datapoint %+v", name, p)
			}
			got = append(got, fmt.Sprint(p.Metric.Name, " ", p.Sum))
		}
		slices.Sort(got)
		slices.Sort(row.want)
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func ExampleQueue() {
	q := sqsmetrics.Queue{Name: "jobs-dead"}
	minute := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for _, visible := range []int{0, 1} {
		for _, p := range q.Publish(minute, sqsmetrics.Sample{Visible: visible}) {
			if p.Metric.Name == "ApproximateNumberOfMessagesVisible" {
				fmt.Println(p.Time.Format("15:04"), p.Maximum)
			}
		}
		minute = minute.Add(time.Minute)
	}
	// Output: 09:01 1
}
