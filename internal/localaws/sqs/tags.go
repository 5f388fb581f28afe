package sqs

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of tags (AWS limits).
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

type tagInput struct {
	target
	Tags map[string]string
}

func (s *Service) tagQueue(q *queue, in tagInput) (empty, error) {
	if len(in.Tags) == 0 {
		return empty{}, missing("Tags")
	}
	all := maps.Clone(q.tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, in.Tags)
	if err := checkTags(q.name, all); err != nil {
		return empty{}, err
	}
	q.tags = all
	return empty{}, nil
}

type untagInput struct {
	target
	TagKeys []string
}

func (s *Service) untagQueue(q *queue, in untagInput) (empty, error) {
	if in.TagKeys == nil {
		return empty{}, missing("TagKeys")
	}
	if len(in.TagKeys) == 0 {
		return empty{}, invalidParameter("Tag keys must be between 1 and 128 characters in length.")
	}
	for _, key := range in.TagKeys {
		delete(q.tags, key)
	}
	return empty{}, nil
}

type listTagsOutput struct {
	Tags map[string]string `json:",omitempty"`
}

func (s *Service) listTags(q *queue, _ target) (*listTagsOutput, error) {
	// Clone: the response is encoded after the lock is released.
	return &listTagsOutput{maps.Clone(q.tags)}, nil
}

func checkTags(queue string, tags map[string]string) error {
	if len(tags) > maxTags {
		return invalidParameter("Too many tags added for queue %s.", queue)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		switch n := utf8.RuneCountInString(key); {
		case n < 1 || n > maxTagKey:
			return invalidValue(key, "TagKey", "Tag keys must be between 1 and 128 characters in length.")
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return invalidValue(key, "TagKey", "Tag keys that start with aws: are reserved.")
		case utf8.RuneCountInString(tags[key]) > maxTagValue:
			return invalidValue(tags[key], "TagValue", "Tag values must be 256 characters in length at most.")
		}
	}
	return nil
}
