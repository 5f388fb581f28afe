package queue_test

import (
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/queue"
)

func TestURL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ partition, region, name, endpoint, want string }{
		"commercial": {partition: "aws", region: "us-east-1", name: "q",
			want: "https://sqs.us-east-1.amazonaws.com/123456789012/q"},
		"FIFO": {partition: "aws", region: "us-east-1", name: "q.fifo",
			want: "https://sqs.us-east-1.amazonaws.com/123456789012/q.fifo"},
		"China": {partition: "aws-cn", region: "cn-north-1", name: "q",
			want: "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/q"},
		"GovCloud": {partition: "aws-us-gov", region: "us-gov-west-1", name: "q",
			want: "https://sqs.us-gov-west-1.amazonaws.com/123456789012/q"},
		"ISO": {partition: "aws-iso", region: "us-iso-east-1", name: "q",
			want: "https://sqs.us-iso-east-1.c2s.ic.gov/123456789012/q"},
		"ISO-B": {partition: "aws-iso-b", region: "us-isob-east-1", name: "q",
			want: "https://sqs.us-isob-east-1.sc2s.sgov.gov/123456789012/q"},
		"European sovereign": {partition: "aws-eusc", region: "eusc-de-east-1", name: "q",
			want: "https://sqs.eusc-de-east-1.amazonaws.eu/123456789012/q"},
		"unknown region": {partition: "aws", region: "eu-north-9", name: "q",
			want: "https://sqs.eu-north-9.amazonaws.com/123456789012/q"},
		"endpoint": {partition: "aws", region: "us-east-1", name: "q", endpoint: "http://127.0.0.1:4570",
			want: "http://127.0.0.1:4570/123456789012/q"},
		"endpoint with a slash": {partition: "aws", region: "us-east-1", name: "q", endpoint: "http://localhost:4566/",
			want: "http://localhost:4566/123456789012/q"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arn := "arn:" + tt.partition + ":sqs:" + tt.region + ":123456789012:" + tt.name
			got, err := queue.URL(t.Context(), arn, tt.endpoint)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestURLOfWhatIsNoQueue(t *testing.T) {
	t.Parallel()
	for _, arn := range []string{
		"", "charge", "https://sqs.us-east-1.amazonaws.com/1/q", "arn:aws:sns:us-east-1:123456789012:topic",
		"arn:aws:sqs::123456789012:q", "arn:aws:sqs:us-east-1::q", "arn:aws:sqs:us-east-1:123456789012:",
		"arn:aws:sqs:us-east-1:123456789012:a/../b", "arn:aws:sqs:us-east-1:1?2:q", "arn:aws:sqs:us-east-1:123456789012:a b",
	} {
		t.Run(arn, func(t *testing.T) {
			t.Parallel()
			got, err := queue.URL(t.Context(), arn, "")
			if err == nil {
				t.Fatalf("got %s, want an error", got)
			}
			if !strings.Contains(err.Error(), `"`+arn+`"`) || !strings.Contains(err.Error(), "arn:aws:sqs:REGION") {
				t.Errorf("the error names neither the value nor the form: %v", err)
			}
		})
	}
}
