package cloudwatch_test

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

// client is a client of the SDK with the steps that the tests share. Its steps
// stop the test when they fail.
type client struct {
	*testing.T
	*awscloudwatch.Client
}

// bubble runs a test with a client and a server in a bubble, which begins at a
// full hour.
func bubble(t *testing.T, f func(c *client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := localtest.Config(localaws.New(nil))
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		f(&client{t, awscloudwatch.NewFromConfig(cfg)})
	})
}

func (c *client) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// wantCode compares the code of an error, and looks for text in its message.
func (c *client) wantCode(err error, code, text string) {
	c.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), text) {
		c.Errorf("got %v, want %s with %q", err, code, text)
	}
}

// at is a time of so many minutes after the beginning.
func at(minutes float64) time.Time {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(minutes * float64(time.Minute)))
}

func (c *client) put(data ...types.MetricDatum) error {
	_, err := c.PutMetricData(c.Context(), &awscloudwatch.PutMetricDataInput{Namespace: aws.String("N"), MetricData: data})
	return err
}

// datum is a datum of the metric with the name, at so many minutes.
func datum(name string, minutes, value float64) types.MetricDatum {
	return types.MetricDatum{MetricName: &name, Timestamp: aws.Time(at(minutes)), Value: &value}
}

// values puts values of a metric, one each minute; no value is put for a gap.
func (c *client) values(name string, values ...float64) {
	c.Helper()
	var data []types.MetricDatum
	for i, v := range values {
		if v != gap {
			data = append(data, datum(name, float64(i), v))
		}
	}
	if len(data) > 0 {
		c.must(c.put(data...))
	}
}

const gap = -999

// stat is a query of a statistic by the minute.
func stat(id, name, statistic string) types.MetricDataQuery {
	return types.MetricDataQuery{Id: &id, ReturnData: aws.Bool(false), MetricStat: &types.MetricStat{
		Metric: &types.Metric{Namespace: aws.String("N"), MetricName: &name}, Period: aws.Int32(60), Stat: &statistic,
	}}
}

// get asks for the first ten minutes, and shows the values as minute:value.
func (c *client) get(queries ...types.MetricDataQuery) (string, error) {
	out, err := c.GetMetricData(c.Context(), &awscloudwatch.GetMetricDataInput{
		StartTime: aws.Time(at(0)), EndTime: aws.Time(at(10)), MetricDataQueries: queries,
		ScanBy: types.ScanByTimestampAscending,
	})
	if err != nil {
		return "", err
	}
	var all []string
	for _, r := range out.MetricDataResults {
		points := make([]string, len(r.Values))
		for i, v := range r.Values {
			points[i] = fmt.Sprintf("%g:%g", r.Timestamps[i].Sub(at(0)).Minutes(), v)
		}
		all = append(all, strings.Join(points, " "))
	}
	return strings.Join(all, "; "), nil
}

// expression is a query of an expression that is returned.
func expression(text string) types.MetricDataQuery {
	return types.MetricDataQuery{Id: aws.String("e"), Expression: &text}
}

func names(metrics []types.Metric) string {
	var all []string
	for _, m := range metrics {
		all = append(all, *m.MetricName)
	}
	sort.Strings(all)
	return strings.Join(all, ",")
}
