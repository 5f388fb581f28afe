package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
	"github.com/sqsafe/sqsafe/metrics"
	"github.com/sqsafe/sqsafe/worker"
)

// cloud is a CloudWatch that answers as it is told, or not at all.
type cloud struct {
	begin time.Time
	// answers are those of the next calls; then come good ones.
	answers []error
	// hung holds every call up until it is closed; heedless ones do not even heed
	// the end of their context.
	hung     chan struct{}
	heedless bool

	mu    sync.Mutex
	calls []*cloudwatch.PutMetricDataInput
	times []time.Duration
}

func (c *cloud) PutMetricData(
	ctx context.Context, in *cloudwatch.PutMetricDataInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.PutMetricDataOutput, error) {
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, in)
	c.times = append(c.times, time.Since(c.begin))
	if len(c.answers) == 0 {
		return &cloudwatch.PutMetricDataOutput{}, nil
	}
	err := c.answers[0]
	c.answers = c.answers[1:]
	return nil, err
}

func (c *cloud) wait(ctx context.Context) error {
	c.mu.Lock()
	hung := c.hung
	if c.heedless {
		ctx = context.WithoutCancel(ctx)
	}
	c.mu.Unlock()
	if hung == nil {
		return nil
	}
	select {
	case <-hung:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// size counts the data of all calls.
func (c *cloud) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, in := range c.calls {
		n += len(in.MetricData)
	}
	return n
}

// sent gives the data of all calls as text, those with one of the names.
func (c *cloud) sent(names ...string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, in := range c.calls {
		for _, d := range in.MetricData {
			if !slices.Contains(names, *d.MetricName) {
				continue
			}
			s := d.StatisticValues
			lines = append(lines, fmt.Sprintf("%s %s %s %v of %v, %v to %v", d.Timestamp.Sub(c.begin), *d.MetricName,
				d.Unit, *s.Sum, *s.SampleCount, *s.Minimum, *s.Maximum))
		}
	}
	return lines
}

// done is the report of a batch of n jobs.
func done(n int, took time.Duration) handler.Report {
	return handler.Report{
		Queue: "jobs", Messages: n, Runs: n, Took: took, Counts: []handler.Count{{Outcome: handler.OutcomeDone, N: n}},
	}
}

func dead(reason string) handler.Report {
	return handler.Report{
		Messages: 1, Counts: []handler.Count{{Outcome: handler.OutcomeDead, Reason: reason, N: 1}},
	}
}

// failing is a job that never runs.
func failing(context.Context, *handler.Message) error { return errors.New("not now") }

func TestMetricsAreAddedUpAndSentOnceAMinute(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		c := &cloud{begin: w.begin}
		r := w.start(worker.Options{Metrics: c}, failing)
		after(10 * time.Second)
		r.OnBatch(w.t.Context(), done(3, 40*time.Millisecond))
		r.OnBatch(w.t.Context(), done(1, 20*time.Millisecond))
		r.OnBatch(w.t.Context(), handler.Report{}) // a batch without messages is none
		after(time.Minute)
		r.OnBatch(w.t.Context(), done(10, time.Second))
		r.OnBatch(w.t.Context(), dead("validation"))
		after(51 * time.Second)
		r.stop()
		if _, err := r.result(); err != nil {
			t.Error(err)
		}
		want := []string{
			"0s BatchTime Milliseconds 60 of 2, 20 to 40",
			"0s Done Count 4 of 2, 1 to 3",
			"1m0s BatchTime Milliseconds 1000 of 2, 0 to 1000",
			"1m0s Dead.validation Count 1 of 1, 1 to 1",
			"1m0s Done Count 10 of 1, 10 to 10",
		}
		if diff := cmp.Diff(want, c.sent("Done", "BatchTime", "Dead.validation")); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]time.Duration{time.Minute, 2 * time.Minute}, c.times); diff != "" {
			t.Errorf("calls, none where nothing is left to send (-want +got):\n%s", diff)
		}
		first := c.calls[0]
		dimension := []types.Dimension{{Name: aws.String(metrics.Dimension), Value: aws.String("jobs")}}
		if *first.Namespace != "sqsafe" || !cmp.Equal(dimension, first.MetricData[0].Dimensions, ignoreSerde) {
			t.Errorf("namespace %q, dimensions %v", *first.Namespace, first.MetricData[0].Dimensions)
		}
	})
}

// An alarm tells a worker without jobs from one that is gone.
func TestAWorkerWithoutJobsReportsEveryMinute(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		c := &cloud{begin: w.begin}
		r := w.start(worker.Options{Metrics: c}, failing)
		after(2*time.Minute + time.Second)
		r.stop()
		if _, err := r.result(); err != nil {
			t.Error(err)
		}
		want := []string{"1m0s Workers Count 1 of 1, 1 to 1", "2m0s Workers Count 1 of 1, 1 to 1"}
		if diff := cmp.Diff(want, c.sent(metrics.Workers)); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
	})
}

var ignoreSerde = cmp.AllowUnexported(types.Dimension{})

// The emulator refuses what CloudWatch would refuse.
func TestMetricsOfJobsReachCloudWatch(t *testing.T) {
	bubble(t, "jobs.fifo", "30", func(w *world) {
		w.send("a1", "b1")
		watch := cloudwatch.NewFromConfig(localtest.Config(w.server))
		o := worker.Options{Metrics: watch, MetricsNamespace: "shop", Name: "charge worker"}
		r := w.start(o, func(_ context.Context, m *handler.Message) error {
			if m.Body == "b1" {
				return errors.New("not now")
			}
			return nil
		})
		after(2 * time.Second)
		r.stop()
		if _, err := r.result(); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]float64{"Messages": 2, "Done": 1, "Retry": 1, "Retry.unclassified": 1} {
			out, err := watch.GetMetricStatistics(w.t.Context(), &cloudwatch.GetMetricStatisticsInput{
				Namespace: aws.String("shop"), MetricName: &name,
				Dimensions: []types.Dimension{{Name: aws.String("FunctionName"), Value: aws.String("charge worker")}},
				StartTime:  &w.begin, EndTime: aws.Time(w.begin.Add(time.Minute)), Period: aws.Int32(60),
				Statistics: []types.Statistic{types.StatisticSum},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Datapoints) != 1 || *out.Datapoints[0].Sum != want {
				t.Errorf("%s: datapoints %v, want a sum of %v", name, out.Datapoints, want)
			}
		}
	})
}

func TestFailuresToSendAreTold(t *testing.T) {
	t.Parallel()
	denied := &smithy.GenericAPIError{Code: "AccessDenied", Message: "not authorized"}
	deniedToo := &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}
	throttled := &smithy.GenericAPIError{Code: "Throttling", Message: "rate exceeded"}
	for _, tt := range []struct {
		name             string
		answers          []error
		refused, trouble int
	}{
		{"a missing permission once", []error{denied, deniedToo, denied}, 1, 0},
		{"a permission that was taken away again", []error{denied, nil, denied}, 2, 0},
		{"anything else each time", []error{throttled, denied, errors.New("no route")}, 1, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, "jobs", "30", func(w *world) {
				c := &cloud{begin: w.begin, answers: tt.answers}
				r := w.start(worker.Options{Metrics: c}, failing)
				for range len(tt.answers) + 1 {
					after(59 * time.Second)
					r.OnBatch(w.t.Context(), done(1, 0))
					after(time.Second)
				}
				r.stop()
				if _, err := r.result(); err != nil {
					t.Errorf("ended with %v, want that metrics change nothing", err)
				}
				const off = "; SQSAFE_METRICS_NAMESPACE=off switches metrics off"
				refused := w.count("metrics not sent: allow cloudwatch:PutMetricData to the worker" + off)
				trouble := w.count("metrics not sent: none if it was once, else see whether the worker reaches CloudWatch" + off)
				if refused != tt.refused || trouble != tt.trouble {
					t.Errorf("warned of a permission %d times and of others %d times, want %d and %d",
						refused, trouble, tt.refused, tt.trouble)
				}
				if n := len(c.calls); n != len(tt.answers)+1 {
					t.Errorf("%d calls, want one a minute whatever comes of them", n)
				}
			})
		})
	}
}

func TestMetricsDoNotHoldTheWorkerUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		heedless bool
		drain    time.Duration
		job      handler.Func
		stopped  time.Duration // when the worker is told to stop
		ended    time.Duration
		code     int
	}{
		{"clean end", false, 0, lasting(time.Second), 2 * time.Second, 5500 * time.Millisecond, 0},
		{
			"clean end while a call is under way", false, 0, lasting(time.Second),
			62 * time.Second, 65500 * time.Millisecond, 0,
		},
		{"clean end near the limit", false, 2 * time.Second, lasting(5 * time.Second), 4 * time.Second, 6 * time.Second, 0},
		{"clean end, nothing heeded", true, 0, lasting(time.Second), 2 * time.Second, 5500 * time.Millisecond, 0},
		{"cut off", true, time.Second, lasting(time.Hour), 4 * time.Second, 5400 * time.Millisecond, 3},
		{"crash", true, 0, crashing(0), time.Minute, 1400 * time.Millisecond, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, "jobs", "30", func(w *world) {
				w.send("b")
				c := &cloud{begin: w.begin, hung: make(chan struct{}), heedless: tt.heedless}
				r := w.start(worker.Options{Metrics: c, Drain: tt.drain}, tt.job)
				stop := time.AfterFunc(tt.stopped, r.stop)
				ended, err := r.result()
				if worker.ExitCode(err) != tt.code || ended != tt.ended {
					t.Errorf("ended with %v after %v, want code %d after %v", err, ended, tt.code, tt.ended)
				}
				if w.count("last metrics not sent") != 1 {
					t.Errorf("log %q, want the loss told", w.logged)
				}
				stop.Stop()
				close(c.hung)
			})
		})
	}
}

func TestTheMetricsOfACrashAreSent(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		w.send("b")
		c := &cloud{begin: w.begin}
		r := w.start(worker.Options{Metrics: c}, crashing(0))
		if ended, err := r.result(); worker.ExitCode(err) != 2 || ended != time.Second {
			t.Errorf("ended with %v after %v, want the panic after 1s", err, ended)
		}
		want := []string{"0s Crash Count 1 of 1, 1 to 1", "0s Crash.panic Count 1 of 1, 1 to 1"}
		if diff := cmp.Diff(want, c.sent("Crash", "Crash.panic")); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("reasons that are as many as jobs", func(t *testing.T) {
		bubble(t, "jobs", "30", func(w *world) {
			c := &cloud{begin: w.begin}
			r := w.start(worker.Options{Metrics: c}, failing)
			for i := range 2000 {
				r.OnBatch(w.t.Context(), dead(fmt.Sprint("order_", i)))
			}
			after(time.Second)
			r.stop()
			_, _ = r.result()
			want := []string{"0s Dead Count 2000 of 2000, 1 to 1", "0s Dead.other Count 1504 of 1504, 1 to 1"}
			if diff := cmp.Diff(want, c.sent("Dead", "Dead.other")); diff != "" || c.size() != 501 {
				t.Errorf("%d data; (-want +got):\n%s", c.size(), diff)
			}
		})
	})
	t.Run("a call that does not end", func(t *testing.T) {
		bubble(t, "jobs", "30", func(w *world) {
			c := &cloud{begin: w.begin, hung: make(chan struct{}), heedless: true}
			r := w.start(worker.Options{Metrics: c}, failing)
			for range 300 { // five series each
				r.OnBatch(w.t.Context(), done(1, 0))
				after(time.Minute)
			}
			close(c.hung)
			after(2 * time.Minute)
			if n := c.size(); n < 1000 || n > 1015 {
				t.Errorf("%d data, want 1000 kept and those of the first call", n)
			}
			r.stop()
			_, _ = r.result()
		})
	})
}

// measured is an HTTP client that notes how long the bodies are.
type measured struct {
	next    http.RoundTripper
	lengths []int
}

func (m *measured) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m.lengths = append(m.lengths, len(body))
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return m.next.RoundTrip(r)
}

func TestCallsStayBelowTheQuotas(t *testing.T) {
	bubble(t, "jobs", "30", func(w *world) {
		config := localtest.Config(w.server)
		counted := &measured{next: w.server.Transport()}
		config.HTTPClient, config.DisableRequestCompression = counted, true
		o := worker.Options{Metrics: cloudwatch.NewFromConfig(config), Name: strings.Repeat("n", 1024)}
		r := w.start(o, failing)
		after(30 * time.Second)
		for i := range 1000 {
			r.OnBatch(w.t.Context(), dead(fmt.Sprintf("%s_%03d", strings.Repeat("r", 60), i)))
		}
		after(31 * time.Second)
		r.stop()
		if _, err := r.result(); err != nil || w.count("worker stopped") != 1 || len(w.logged) != 3 {
			t.Errorf("ended with %v, log %q", err, w.logged)
		}
		if n := len(counted.lengths); n != 2 || slices.Max(counted.lengths) >= 1<<20 || slices.Max(counted.lengths) < 1<<19 {
			t.Errorf("bodies of %v bytes, want 501 data in two calls below 1 MB", counted.lengths)
		}
	})
}
