package sqs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
)

func (c *client) tag(url string, tags attrs) error {
	_, err := c.TagQueue(c.Context(), &awssqs.TagQueueInput{QueueUrl: &url, Tags: tags})
	return err
}

func (c *client) wantTags(url string, want attrs) {
	c.Helper()
	out, err := c.ListQueueTags(c.Context(), &awssqs.ListQueueTagsInput{QueueUrl: &url})
	c.must(err)
	if diff := cmp.Diff(want, out.Tags); diff != "" {
		c.Errorf("tags (-want +got):\n%s", diff)
	}
}

func TestTags(t *testing.T) {
	bubble(t, func(c *client) {
		c.wantTags(c.create("plain", nil), nil)
		out, err := c.CreateQueue(c.Context(), &awssqs.CreateQueueInput{
			QueueName: aws.String("q"), Tags: attrs{"team": "a", "cost": ""},
		})
		c.must(err)
		q := *out.QueueUrl
		c.wantTags(q, attrs{"team": "a", "cost": ""})
		c.must(c.tag(q, attrs{"team": "b", "Team": "c"}))
		c.wantTags(q, attrs{"team": "b", "Team": "c", "cost": ""})
		_, err = c.UntagQueue(c.Context(), &awssqs.UntagQueueInput{QueueUrl: &q, TagKeys: []string{"cost", "none"}})
		c.must(err)
		c.wantTags(q, attrs{"team": "b", "Team": "c"})
	})
}

func TestTagsThatAreRefused(t *testing.T) {
	bubble(t, func(c *client) {
		q := c.create("q", nil)
		many := attrs{}
		for i := range 50 {
			many[fmt.Sprint("k", i)] = strings.Repeat("é", 256)
		}
		c.must(c.tag(q, many))
		for name, tags := range map[string]attrs{
			"one more":       {"k50": ""},
			"reserved":       {"AWS:k1": ""},
			"long key":       {strings.Repeat("k", 129): ""},
			"empty key":      {"": "v"},
			"value too long": {"k1": strings.Repeat("v", 257)},
		} {
			if err := c.tag(q, tags); err == nil {
				c.Errorf("%s: accepted", name)
			} else {
				c.wantCode(err, "InvalidParameterValue", "")
			}
			_, err := c.CreateQueue(c.Context(), &awssqs.CreateQueueInput{QueueName: aws.String("r"), Tags: tags})
			if name == "one more" {
				c.must(err)
				continue
			}
			c.wantCode(err, "InvalidParameterValue", "")
		}
		c.wantTags(q, many)
		c.wantCode(c.tag(q, attrs{}), "MissingParameter", "Tags")
	})
}
