package cloudwatch_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// Data that many clients put at the same time are all counted.
func TestParallelLoad(t *testing.T) {
	bubble(t, func(c *client) {
		const clients, each = 16, 25
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				for range each {
					if err := c.put(datum("v", float64(i%4), 1)); err != nil {
						c.Error(err)
					}
					if _, err := c.get(stat("v", "v", "Sum"), expression("DIFF(v)")); err != nil {
						c.Error(err)
					}
				}
				if err := c.putAlarm(plain(fmt.Sprint("a", i))); err != nil {
					c.Error(err)
				}
			})
		}
		wg.Wait()
		got, err := c.get(stat("v", "v", "SampleCount"), expression("v"))
		if want := "0:100 1:100 2:100 3:100"; err != nil || got != want {
			c.Errorf("got %q (%v), want %q", got, err, want)
		}
		out, err := c.DescribeAlarms(c.Context(), &awscloudwatch.DescribeAlarmsInput{
			AlarmNamePrefix: aws.String("a"), StateValue: types.StateValueInsufficientData,
		})
		c.must(err)
		if len(out.MetricAlarms) != clients {
			c.Errorf("%d alarms, want %d", len(out.MetricAlarms), clients)
		}
	})
}
