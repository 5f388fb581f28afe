package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/internal/local"
	"github.com/sqsafe/sqsafe/internal/redact"
)

// queueName is a queue as a user names it.
type queueName struct {
	name string
	// url is empty unless the user gave one. account and region are empty
	// unless the user's name contains them.
	url, account, region string
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// parseQueue parses a name, a URL or an ARN.
func parseQueue(text string) (queueName, error) {
	q := queueName{name: text}
	switch {
	case strings.HasPrefix(text, "arn:"):
		part := strings.Split(text, ":")
		if len(part) != 6 || part[2] != "sqs" {
			return q, fmt.Errorf("queue %q: want an ARN such as arn:aws:sqs:eu-west-1:123456789012:orders", redact.URL(text))
		}
		q.region, q.account, q.name = part[3], part[4], part[5]
	case strings.Contains(text, "://"):
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			return q, fmt.Errorf("queue %q: want a URL such as https://sqs.eu-west-1.amazonaws.com/123456789012/orders",
				redact.URL(text))
		}
		q.url, q.name = text, path.Base(u.Path)
		if q.inAWS() {
			q.region = strings.Split(u.Host, ".")[1] // for example sqs.eu-west-1.amazonaws.com
		}
	}
	if name := strings.TrimSuffix(q.name, ".fifo"); !plainName.MatchString(name) || len(q.name) > 80 {
		return q, fmt.Errorf("queue %q: want a name of up to 80 letters, digits, hyphens and underscores, a URL or an ARN",
			redact.URL(text))
	}
	return q, nil
}

// inAWS reports whether the URL is one of AWS.
func (q queueName) inAWS() bool {
	u, err := url.Parse(q.url)
	return err == nil && strings.HasPrefix(u.Host, "sqs.") && strings.Contains(u.Host, ".amazonaws.com")
}

// logicalID returns the name of the queue that has this logical id in the template of
// the local stack at the endpoint; the second result is false if there is none.
func logicalID(ctx context.Context, endpoint, id string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	names, err := local.QueueNames(ctx, endpoint)
	if err != nil {
		return "", false // another engine, which knows no template
	}
	name, known := names[id]
	return name, known
}

// find returns the queue, and a client for it. A local stack knows its queues by their
// logical ids as well.
func (t *Target) find(ctx context.Context, text string) (jobfile.Queue, *sqs.Client, error) {
	name, err := parseQueue(text)
	if err != nil {
		return jobfile.Queue{}, nil, err
	}
	if name.inAWS() && !t.AWS {
		const form = "queue %s is one of AWS, and this talks to %s; add --aws, or give the name only"
		return jobfile.Queue{}, nil, fmt.Errorf(form, text, t)
	}
	client, err := t.client(ctx, name.region)
	if err != nil {
		return jobfile.Queue{}, nil, err
	}
	queue := jobfile.Queue{Name: name.name, URL: name.url, FIFO: strings.HasSuffix(name.name, ".fifo")}
	if queue.URL != "" {
		return queue, client, nil
	}
	in := &sqs.GetQueueUrlInput{QueueName: aws.String(name.name)}
	if name.account != "" {
		in.QueueOwnerAWSAccountId = aws.String(name.account)
	}
	out, err := client.GetQueueUrl(ctx, in)
	if missing, ok := errors.AsType[*types.QueueDoesNotExist](err); ok && missing != nil && !t.AWS {
		if physical, known := logicalID(ctx, t.String(), name.name); known {
			queue.Name, queue.FIFO = physical, strings.HasSuffix(physical, ".fifo")
			out, err = client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(physical)})
		}
	}
	if err != nil {
		return queue, nil, t.explain(err, text)
	}
	queue.URL = aws.ToString(out.QueueUrl)
	return queue, client, nil
}
