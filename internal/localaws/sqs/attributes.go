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

// setAttributes changes a queue at once. AWS takes up to 60 seconds.
func (s *Service) setAttributes(q *queue, in setAttributesInput) (empty, error) {
	if len(in.Attributes) == 0 {
		return empty{}, missing("Attributes")
	}
	if !q.fifo() && in.Attributes[fifoQueue] != "" {
		return empty{}, refusal("InvalidAttributeValue",
			"Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.")
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
	q.settings, q.modified = set, s.clock.Now()
	return empty{}, nil
}
