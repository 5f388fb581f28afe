package sqs

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// computed are the attributes that are computed and cannot be set.
var computed = map[string]func(q *queue) string{
	"QueueArn":                              func(q *queue) string { return q.arn },
	"CreatedTimestamp":                      func(q *queue) string { return unix(q.created) },
	"LastModifiedTimestamp":                 func(q *queue) string { return unix(q.modified) },
	"ApproximateNumberOfMessages":           func(q *queue) string { return strconv.Itoa(q.counts[visible]) },
	"ApproximateNumberOfMessagesNotVisible": func(q *queue) string { return strconv.Itoa(q.counts[inFlight]) },
	"ApproximateNumberOfMessagesDelayed":    func(q *queue) string { return strconv.Itoa(q.counts[delayed]) },
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

type getAttributesInput struct {
	target
	AttributeNames []string
}

type getAttributesOutput struct {
	Attributes map[string]string `json:",omitempty"`
}

func (s *Service) getAttributes(q *queue, in getAttributesInput) (*getAttributesOutput, error) {
	all := slices.Contains(in.AttributeNames, "All")
	out := map[string]string{}
	for _, name := range in.AttributeNames {
		if _, settable := rules[name]; !settable && computed[name] == nil && name != "All" {
			return nil, refusal("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
	}
	for name, value := range q.settings.values {
		if name == keyReusePeriod && q.settings.values[keyEncryption] == "" {
			continue
		}
		if all || slices.Contains(in.AttributeNames, name) {
			out[name] = value
		}
	}
	for name, value := range computed {
		if all || slices.Contains(in.AttributeNames, name) {
			out[name] = value(q)
		}
	}
	return &getAttributesOutput{out}, nil
}

type setAttributesInput struct {
	target
	Attributes map[string]string
}

// propagation is how long a change of an attribute takes at most (AWS limit).
const propagation = 60 * time.Second

// setAttributes changes a queue at once, where AWS takes up to 60 seconds. Only
// the deduplication scope changes after this time, as in AWS: so a message is no
// duplicate in one scope and not in the other within a moment.
func (s *Service) setAttributes(q *queue, in setAttributesInput) (empty, error) {
	if len(in.Attributes) == 0 {
		return empty{}, missing("Attributes")
	}
	set, err := q.settings.with(in.Attributes, q.fifo())
	if err == nil {
		err = s.checkRedrive(q.name, set)
	}
	if err != nil {
		return empty{}, err
	}
	if maps.Equal(set.values, q.settings.values) {
		return empty{}, nil
	}
	now := s.clock.Now()
	if set.values[dedupScope] != q.settings.values[dedupScope] {
		q.oldScope, q.oldScopeUntil = q.scope(now), now.Add(propagation)
	}
	q.settings, q.modified = set, now
	return empty{}, nil
}
