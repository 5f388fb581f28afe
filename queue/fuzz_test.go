package queue_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/queue"
)

// A queue's ARN gives its URL below the endpoint, or is refused by name.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"arn:aws:sqs:eu-central-1:123456789012:charges.fifo", "arn:aws-cn:sqs:cn-north-1:123456789012:charges",
		"arn:aws:sqs:::", "arn:aws:sns:eu-central-1:1:x", "", "arn:aws:sqs:\x00:1:../..", "arn:aws:sqs:eu west:1:a/b:c",
	} {
		f.Add(seed, "http://127.0.0.1:4570")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, arn, endpoint string) {
		got, err := queue.URL(t.Context(), arn, endpoint)
		switch {
		case err != nil && got != "":
			t.Errorf("%q gives %q beside %v", arn, got, err)
		case err != nil || endpoint != "":
		case !strings.HasPrefix(got, "https://"):
			t.Errorf("%q gives %q, want a URL of AWS", arn, got)
		default:
			if _, err := url.Parse(got); err != nil {
				t.Errorf("%q gives %q: %v", arn, got, err)
			}
		}
	})
}
