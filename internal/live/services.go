package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	watch "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tables "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	queues "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/check"
)

// queues reads the attributes of queues, the age of dead letters, and who else
// consumes.
func (r *reader) queues(ctx context.Context) error {
	var targets []string
	for _, q := range r.of("AWS::SQS::Queue") {
		out, err := r.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: aws.String(q.physical), AttributeNames: []queues.QueueAttributeName{queues.QueueAttributeNameAll},
		})
		if err != nil {
			return err
		}
		live := check.LiveQueue{ID: q.id, Attributes: out.Attributes, ARN: out.Attributes["QueueArn"]}
		if live.Strangers, err = r.strangers(ctx, live.ARN); err != nil {
			return err
		}
		targets = append(targets, out.Attributes["RedrivePolicy"])
		r.stack.Live.Queues = append(r.stack.Live.Queues, live)
	}
	for i := range r.stack.Live.Queues {
		q := &r.stack.Live.Queues[i]
		dead := slices.ContainsFunc(targets, func(policy string) bool { return strings.Contains(policy, `"`+q.ARN+`"`) })
		if !dead {
			continue
		}
		var err error
		if q.Oldest, err = r.oldest(ctx, q.ARN[strings.LastIndexByte(q.ARN, ':')+1:]); err != nil {
			return err
		}
	}
	return nil
}

// lookBack is how far back metrics are read: SQS reports them each minute, and
// late after a pause.
const lookBack = 20 * time.Minute

// oldest returns the age of the oldest message by the newest value of its metric.
func (r *reader) oldest(ctx context.Context, queue string) (time.Duration, error) {
	now := time.Now()
	out, err := r.cloudwatch.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{
		Namespace: aws.String("AWS/SQS"), MetricName: aws.String("ApproximateAgeOfOldestMessage"),
		Dimensions: []watch.Dimension{{Name: aws.String("QueueName"), Value: &queue}},
		StartTime:  aws.Time(now.Add(-lookBack)), EndTime: &now, Period: aws.Int32(60),
		Statistics: []watch.Statistic{watch.StatisticMaximum},
	})
	if err != nil || len(out.Datapoints) == 0 {
		return 0, err
	}
	newest := slices.MaxFunc(out.Datapoints, func(a, b watch.Datapoint) int {
		return aws.ToTime(a.Timestamp).Compare(aws.ToTime(b.Timestamp))
	})
	return time.Duration(aws.ToFloat64(newest.Maximum)) * time.Second, nil
}

func (r *reader) alarms(ctx context.Context) error {
	byName := map[string]string{}
	var names []string
	for _, a := range r.of("AWS::CloudWatch::Alarm") {
		byName[a.physical] = a.id
		names = append(names, a.physical)
	}
	for part := range slices.Chunk(names, 100) { // AWS takes as many in a call
		out, err := r.cloudwatch.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
			AlarmNames: part, MaxRecords: aws.Int32(100),
		})
		if err != nil {
			return err
		}
		for _, a := range out.MetricAlarms {
			r.stack.Live.Alarms = append(r.stack.Live.Alarms, check.LiveAlarm{
				ID: byName[aws.ToString(a.AlarmName)], State: string(a.StateValue),
				Enabled: aws.ToBool(a.ActionsEnabled), Actions: len(a.AlarmActions),
			})
			for _, action := range a.AlarmActions {
				if strings.Contains(action, ":sns:") && !slices.Contains(r.topicARNs, action) {
					r.topicARNs = append(r.topicARNs, action)
				}
			}
		}
	}
	return nil
}

// pending is what SNS gives as the ARN of a subscription that nobody confirmed.
const pending = "PendingConfirmation"

func (r *reader) topics(ctx context.Context) error {
	for _, arn := range r.topicARNs {
		live := check.LiveTopic{ARN: arn}
		pages := sns.NewListSubscriptionsByTopicPaginator(r.sns, &sns.ListSubscriptionsByTopicInput{TopicArn: &arn})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, s := range page.Subscriptions {
				if aws.ToString(s.SubscriptionArn) == pending {
					live.Pending++
				} else {
					live.Confirmed++
				}
			}
		}
		r.stack.Live.Topics = append(r.stack.Live.Topics, live)
	}
	return nil
}

func (r *reader) tables(ctx context.Context) error {
	for _, t := range r.of("AWS::DynamoDB::Table") {
		if !slices.Contains(r.ledgers, t.physical) {
			continue
		}
		out, err := r.dynamodb.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(t.physical)})
		if err != nil {
			return err
		}
		live := check.LiveTable{ID: t.id}
		if d := out.TimeToLiveDescription; d != nil && (d.TimeToLiveStatus == tables.TimeToLiveStatusEnabled ||
			d.TimeToLiveStatus == tables.TimeToLiveStatusEnabling) {
			live.TTL = aws.ToString(d.AttributeName)
		}
		r.stack.Live.Tables = append(r.stack.Live.Tables, live)
	}
	return nil
}
