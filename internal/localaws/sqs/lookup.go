package sqs

import (
	"net/url"
	"strings"
)

// find returns the queue of a URL, advanced to the current time. As in SQS the
// name alone is enough. The host of the URL is ignored, since a queue can be
// reached by several host names.
func (s *Service) find(queueURL string) (*queue, error) {
	if queueURL == "" {
		return nil, missing("QueueUrl")
	}
	path := queueURL
	if u, err := url.Parse(queueURL); err == nil {
		path = u.Path
	}
	account, name, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok {
		account, name = s.account, account
	}
	q := s.queues[name]
	if q == nil || account != s.account {
		return nil, noQueue()
	}
	q.advance(s.clock.Now())
	return q, nil
}

func (s *Service) url(host string, q *queue) string {
	return (&url.URL{Scheme: "http", Host: host, Path: "/" + s.account + "/" + q.name}).String()
}

func (s *Service) arn(name string) string {
	return "arn:aws:sqs:" + s.region + ":" + s.account + ":" + name
}

// byARN returns the queue of an ARN of this account and region, or nil.
func (s *Service) byARN(arn string) *queue {
	q := s.queues[arn[strings.LastIndex(arn, ":")+1:]]
	if q == nil || q.arn != arn {
		return nil
	}
	return q
}
