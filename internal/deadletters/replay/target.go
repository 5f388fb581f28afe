package replay

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// OpenTarget reads the attributes of the queue with that URL. Its errors are those of the
// client.
func OpenTarget(ctx context.Context, client *sqs.Client, url string) (*Target, error) {
	q, err := deadletters.Open(ctx, client, url)
	if err != nil {
		return nil, err
	}
	return &Target{Name: q.Name, URL: q.URL, ARN: q.ARN, FIFO: q.FIFO, MaxBytes: q.MaxBytes}, nil
}

// findTarget returns the queue with that ARN; nil if there is none.
func findTarget(ctx context.Context, client *sqs.Client, arn string) (*Target, error) {
	parts := strings.Split(arn, ":")
	if len(parts) != 6 {
		return nil, nil
	}
	out, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &parts[5], QueueOwnerAWSAccountId: &parts[4]})
	if missing, ok := errors.AsType[*types.QueueDoesNotExist](err); ok && missing != nil {
		return nil, nil //nolint:nilerr // there is none
	}
	if err != nil {
		return nil, err
	}
	t, err := OpenTarget(ctx, client, *out.QueueUrl)
	if err != nil {
		return nil, err
	}
	if t.ARN != arn && t.ARN != "" { // another region: the client cannot reach the source
		return nil, nil
	}
	return t, nil
}
