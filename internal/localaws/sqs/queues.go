package sqs

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	fifoSuffix = ".fifo"
	// reuseDelay is how long after a delete a queue cannot be created again,
	// and after a purge cannot be purged again.
	reuseDelay = 60 * time.Second
	maxPage    = 1000
)

var queueNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// deletion remembers when a queue was deleted.
type deletion struct{ at time.Time }

type createQueueInput struct {
	Name       *string `json:"QueueName"`
	Attributes map[string]string
	Tags       map[string]string `json:"tags"`
}

type queueURLOutput struct {
	QueueURL string `json:"QueueUrl"`
}

func (s *Service) createQueue(host string, in createQueueInput) (*queueURLOutput, error) {
	if in.Name == nil {
		return nil, missing("QueueName")
	}
	name, fifo := *in.Name, strings.EqualFold(in.Attributes[fifoQueue], "true")
	if err := checkQueueName(name, fifo); err != nil {
		return nil, err
	}
	preset := presets(fifo)
	set, err := preset.with(in.Attributes, fifo)
	if err == nil {
		err = checkTags(name, in.Tags)
	}
	if err != nil {
		return nil, err
	}
	if q := s.queues[name]; q != nil {
		for key := range in.Attributes {
			attribute := settingName(key)
			if !q.settings.same(&set, attribute) {
				return nil, refusal("QueueNameExists",
					"A queue already exists with the same name and a different value for attribute %s", attribute)
			}
		}
		return &queueURLOutput{s.url(host, q)}, nil
	}
	now := s.clock.Now()
	if d, ok := s.deleted[name]; ok && now.Sub(d.at) < reuseDelay {
		return nil, refusal("QueueDeletedRecently",
			"You must wait 60 seconds after deleting a queue before you can create another with the same name.")
	}
	if err := s.checkRedrive(name, set); err != nil {
		return nil, err
	}
	delete(s.deleted, name)
	q := newQueue(name, s.arn(name), set, now)
	q.tags = in.Tags
	s.queues[q.name] = q
	return &queueURLOutput{s.url(host, q)}, nil
}

func checkQueueName(name string, fifo bool) error {
	base, suffixed := strings.CutSuffix(name, fifoSuffix)
	switch {
	case fifo && (!suffixed || len(name) > 80 || !queueNames.MatchString(base)):
		return invalidParameter("The name of a FIFO queue can only include alphanumeric characters, hyphens, " +
			"or underscores, must end with .fifo suffix and be 1 to 80 in length.")
	case !fifo && !queueNames.MatchString(name):
		const reason = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
		if suffixed {
			return invalidParameter(reason + "; a name with the suffix .fifo needs the attribute FifoQueue.")
		}
		return invalidParameter(reason)
	}
	return nil
}

type getQueueURLInput struct {
	QueueName              string
	QueueOwnerAWSAccountID string `json:"QueueOwnerAWSAccountId"`
}

func (s *Service) getQueueURL(host string, in getQueueURLInput) (*queueURLOutput, error) {
	if in.QueueName == "" {
		return nil, missing("QueueName")
	}
	q := s.queues[in.QueueName]
	if q == nil || (in.QueueOwnerAWSAccountID != "" && in.QueueOwnerAWSAccountID != s.account) {
		return nil, noQueue()
	}
	return &queueURLOutput{s.url(host, q)}, nil
}

type empty struct{}

func (s *Service) deleteQueue(q *queue, _ target) (empty, error) {
	q.empty()
	q.gone = true
	delete(s.queues, q.name)
	s.deleted[q.name] = deletion{s.clock.Now()}
	for q.waiters.next() {
	}
	return empty{}, nil
}

func (s *Service) purgeQueue(q *queue, _ target) (empty, error) {
	now := s.clock.Now()
	if now.Sub(q.purged) < reuseDelay {
		return empty{}, refusal("PurgeQueueInProgress",
			"Only one PurgeQueue operation on %s is allowed every 60 seconds.", q.name)
	}
	q.empty()
	q.dedup = deduplication{}
	q.purged = now
	return empty{}, nil
}

// page holds the paging parameters of a list request.
type page struct {
	MaxResults *int
	NextToken  string
}

type listQueuesInput struct {
	page
	QueueNamePrefix string
}

type listQueuesOutput struct {
	QueueURLs []string `json:"QueueUrls,omitempty"`
	NextToken string   `json:",omitempty"`
}

func (s *Service) listQueues(host string, in listQueuesInput) (*listQueuesOutput, error) {
	var found []*queue
	for _, q := range s.queues {
		if strings.HasPrefix(q.name, in.QueueNamePrefix) {
			found = append(found, q)
		}
	}
	urls, token, err := s.list(host, found, in.page)
	return &listQueuesOutput{urls, token}, err
}

type listSourcesInput struct {
	page
	target
}

type listSourcesOutput struct {
	QueueURLs []string `json:"queueUrls"`
	NextToken string   `json:",omitempty"`
}

func (s *Service) listDeadLetterSources(host string, in listSourcesInput) (*listSourcesOutput, error) {
	dead, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	var found []*queue
	for _, q := range s.queues {
		if r := q.settings.redrive; r != nil && r.TargetARN == dead.arn {
			found = append(found, q)
		}
	}
	urls, token, err := s.list(host, found, in.page)
	return &listSourcesOutput{urls, token}, err
}

// list returns the URLs of a page of queues, sorted by name, and the token of
// the next page, which exists only if the request sets MaxResults.
func (s *Service) list(host string, found []*queue, in page) (urls []string, token string, err error) {
	size := maxPage
	if in.MaxResults != nil {
		if size = *in.MaxResults; size < 1 || size > maxPage {
			return nil, "", invalidValue(size, "MaxResults", "MaxResults must be an integer between 1 and 1000.")
		}
	}
	after, err := base64.URLEncoding.DecodeString(in.NextToken)
	if err != nil {
		return nil, "", invalidParameter("Invalid or expired next token.")
	}
	slices.SortFunc(found, func(a, b *queue) int { return strings.Compare(a.name, b.name) })
	urls = []string{}
	last := ""
	for _, q := range found {
		if q.name <= string(after) {
			continue
		}
		if len(urls) == size {
			if in.MaxResults != nil {
				token = base64.URLEncoding.EncodeToString([]byte(last))
			}
			break
		}
		urls = append(urls, s.url(host, q))
		last = q.name
	}
	return urls, token, nil
}
