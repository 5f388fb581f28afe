package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/local"
)

// DLQStops are the conditions that end a replay.
type DLQStops struct {
	Growth    int           `placeholder:"N" default:"0" help:"Stop if more than N new letters come, or jobs are dead again (${default})."` //nolint:lll // a struct tag is one line
	AnyGrowth bool          `help:"Go on however many new letters come."`
	StopAge   time.Duration `placeholder:"DURATION" help:"Stop if the oldest message of a source queue is older."`
	StopAlarm []string      `placeholder:"NAME" help:"Stop if one of these CloudWatch alarms is in ALARM."`
	LambdaTarget
}

// conditions returns what ends the run besides new letters.
func (r *DLQReplay) conditions(
	ctx context.Context, s *session, streams Streams, to *replay.Target,
) ([]replay.Condition, error) {
	var conditions []replay.Condition
	if len(r.StopAlarm) > 0 {
		c, err := r.alarms(ctx)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	if r.StopAge > 0 {
		names, err := r.sourceNames(ctx, s, to)
		if err != nil {
			return nil, err
		}
		oldest := func(ctx context.Context) (map[string]time.Duration, error) { return r.oldest(ctx, names) }
		if _, err := oldest(ctx); err != nil {
			return nil, fmt.Errorf("--stop-age: %w", err)
		}
		conditions = append(conditions, tooOld(oldest, names, r.StopAge))
	}
	return append(conditions, r.paused(s, streams, to)), nil
}

// sourceNames returns the names of the queues that get the letters.
func (r *DLQReplay) sourceNames(ctx context.Context, s *session, to *replay.Target) ([]string, error) {
	if to != nil {
		return []string{to.Name}, nil
	}
	urls, err := s.Sources(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	for i := range urls {
		urls[i] = lastPart(urls[i])
	}
	return urls, nil
}

// watch returns a client of CloudWatch.
func (t *DLQTarget) watch(ctx context.Context) (*cloudwatch.Client, error) {
	c, err := t.config(ctx, t.EndpointSQS, "")
	if err != nil {
		return nil, err
	}
	return cloudwatch.NewFromConfig(c, func(o *cloudwatch.Options) {
		if t.EndpointSQS != "" {
			o.BaseEndpoint = aws.String(t.EndpointSQS)
		}
	}), nil
}

// alarms stops when one of the alarms is in ALARM. They must exist.
func (r *DLQReplay) alarms(ctx context.Context) (replay.Condition, error) {
	client, err := r.watch(ctx)
	if err != nil {
		return nil, err
	}
	look := func(ctx context.Context) (states map[string]types.StateValue, err error) {
		out, err := client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
			AlarmNames: r.StopAlarm, AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm},
		})
		if err != nil {
			return nil, r.Account.explain(err, "CloudWatch", r.EndpointSQS, "--endpoint-sqs")
		}
		states = map[string]types.StateValue{}
		for i := range out.MetricAlarms {
			states[aws.ToString(out.MetricAlarms[i].AlarmName)] = out.MetricAlarms[i].StateValue
		}
		for i := range out.CompositeAlarms {
			states[aws.ToString(out.CompositeAlarms[i].AlarmName)] = out.CompositeAlarms[i].StateValue
		}
		return states, nil
	}
	states, err := look(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range r.StopAlarm {
		if _, there := states[name]; !there {
			return nil, fmt.Errorf("--stop-alarm %s: there is no such alarm at %s", name, r)
		}
	}
	return func(ctx context.Context) (string, error) {
		states, err := look(ctx)
		for _, name := range r.StopAlarm {
			if states[name] == types.StateValueAlarm {
				return "alarm " + name + " is in ALARM", nil
			}
		}
		return "", err
	}, nil
}

// tooOld stops when the oldest message of a source queue is older than the limit.
func tooOld(
	oldest func(context.Context) (map[string]time.Duration, error), names []string, limit time.Duration,
) replay.Condition {
	return func(ctx context.Context) (string, error) {
		ages, err := oldest(ctx)
		for _, name := range names {
			if ages[name] > limit {
				return fmt.Sprintf("the oldest message of %s is %s old", name, age(ages[name])), nil
			}
		}
		return "", err
	}
}

// errNoAges says that nobody knows how old messages are.
var errNoAges = errors.New("only CloudWatch and the local stack know the age of the oldest message")

// oldest returns the ages of the oldest messages of the queues that hold some: by CloudWatch,
// which is minutes late, or by the local stack.
func (t *DLQTarget) oldest(ctx context.Context, names []string) (map[string]time.Duration, error) {
	if t.AWS {
		client, err := t.watch(ctx)
		if err != nil {
			return nil, err
		}
		return oldestMessages(ctx, client, names)
	}
	oldest, err := local.Oldest(ctx, t.place(t.EndpointSQS))
	if err != nil {
		return nil, errNoAges
	}
	found := map[string]time.Duration{}
	for name, at := range oldest {
		found[name] = time.Since(at)
	}
	return found, nil
}

// expires returns when the oldest message of the queue expires; zero if that is not known.
func (t *DLQTarget) expires(ctx context.Context, source *deadletters.Queue) time.Time {
	ages, err := t.oldest(ctx, []string{source.Name})
	return expiry(source, ages, err, time.Now())
}

func expiry(source *deadletters.Queue, ages map[string]time.Duration, err error, now time.Time) time.Time {
	oldest, known := ages[source.Name]
	if err != nil || !known || source.Retention == 0 {
		return time.Time{}
	}
	return now.Add(source.Retention - oldest).UTC()
}

// oldestMessages reads ApproximateAgeOfOldestMessage of the last five minutes.
func oldestMessages(
	ctx context.Context, client *cloudwatch.Client, names []string,
) (map[string]time.Duration, error) {
	const window, period = 5 * time.Minute, 60
	ages, now := map[string]time.Duration{}, time.Now()
	for _, name := range names {
		out, err := client.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{
			Namespace: aws.String("AWS/SQS"), MetricName: aws.String("ApproximateAgeOfOldestMessage"),
			Dimensions: []types.Dimension{{Name: aws.String("QueueName"), Value: &name}},
			StartTime:  aws.Time(now.Add(-window)), EndTime: &now, Period: aws.Int32(period),
			Statistics: []types.Statistic{types.StatisticMaximum},
		})
		if err != nil {
			return nil, fmt.Errorf("age of the oldest message of %s: %w", name, err)
		}
		var newest time.Time
		for _, p := range out.Datapoints {
			if p.Timestamp.After(newest) {
				newest = *p.Timestamp
				ages[name] = time.Duration(aws.ToFloat64(p.Maximum) * float64(time.Second))
			}
		}
	}
	return ages, nil
}
