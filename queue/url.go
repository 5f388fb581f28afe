package queue

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// URL returns the queue's URL. If endpoint is empty, host and domain are those of the
// ARN's region as the SDK knows them, in any partition. Otherwise the URL is below
// endpoint, such as "http://127.0.0.1:4570".
func URL(ctx context.Context, queueARN, endpoint string) (string, error) {
	a, err := arn.Parse(queueARN)
	if err != nil || a.Service != "sqs" || a.Region == "" || !isSegment(a.AccountID) || !isSegment(a.Resource) {
		const form = "arn:aws:sqs:REGION:ACCOUNT:NAME"
		return "", fmt.Errorf("queue: %q is not the ARN of a queue, which has the form %s", queueARN, form)
	}
	if endpoint == "" {
		if endpoint, err = regional(ctx, a.Region); err != nil {
			return "", fmt.Errorf("queue: no SQS endpoint for the region of %s: %w", queueARN, err)
		}
	}
	return strings.TrimRight(endpoint, "/") + "/" + a.AccountID + "/" + a.Resource, nil
}

// isSegment reports whether a text can be a segment of a URL's path as it is.
func isSegment(text string) bool {
	illegal := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`/?#%\`, r) }
	return text != "" && strings.IndexFunc(text, illegal) < 0
}

func regional(ctx context.Context, region string) (string, error) {
	parameters := sqs.EndpointParameters{Region: aws.String(region)}
	e, err := sqs.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, parameters.WithDefaults())
	if err != nil {
		return "", err
	}
	return e.URI.String(), nil
}
