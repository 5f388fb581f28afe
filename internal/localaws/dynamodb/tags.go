package dynamodb

import (
	"regexp"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type tag struct {
	Key   string `rule:"required,len=1..128"`
	Value string `rule:"required,len=0..256"`
}

type tagParameters struct {
	ResourceArn *string
	Tags        []tag `rule:"required,is=Tag"`
}

type untagParameters struct {
	ResourceArn *string
	TagKeys     []string `rule:"required"`
}

type listTagsParameters struct {
	ResourceArn *string
	NextToken   string
}

type listTagsResponse struct{ Tags []tag }

func (s *Service) tagResource(p *tagParameters) (struct{}, error) {
	arn, err := tableARN(p.ResourceArn, "TagResource")
	if err != nil {
		return struct{}{}, err
	}
	if len(p.Tags) == 0 {
		return struct{}{}, attribute.Invalidf("Atleast one Tag needs to be provided as Input.")
	}
	t, err := s.resource(arn)
	if err != nil {
		return struct{}{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tags = slices.Clone(t.tags)
	for _, tag := range p.Tags {
		if at := slices.IndexFunc(t.tags, tag.sameKey); at >= 0 {
			t.tags[at] = tag
		} else {
			t.tags = append(t.tags, tag)
		}
	}
	return struct{}{}, nil
}

func (t tag) sameKey(other tag) bool { return t.Key == other.Key }

func (s *Service) untagResource(p *untagParameters) (struct{}, error) {
	arn, err := tableARN(p.ResourceArn, "UntagResource")
	if err != nil {
		return struct{}{}, err
	}
	if len(p.TagKeys) == 0 {
		return struct{}{}, attribute.Invalidf("Atleast one Tag Key needs to be provided as Input.")
	}
	t, err := s.table(arn)
	if err != nil {
		return struct{}{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tags = slices.DeleteFunc(slices.Clone(t.tags), func(t tag) bool { return slices.Contains(p.TagKeys, t.Key) })
	return struct{}{}, nil
}

func (s *Service) listTagsOfResource(p *listTagsParameters) (listTagsResponse, error) {
	arn, err := tableARN(p.ResourceArn, "ListTagsOfResource")
	if err != nil {
		return listTagsResponse{}, err
	}
	t, err := s.resource(arn)
	if err != nil {
		return listTagsResponse{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return listTagsResponse{append([]tag{}, t.tags...)}, nil
}

// The shapes of an ARN: of any resource, and of a table.
var (
	anyARN = regexp.MustCompile(`^.+:.+:.+:.+:.+:.+/.+$`)
	aTable = regexp.MustCompile(`^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[a-zA-Z0-9_.-]{3,255}$`)
)

// tableARN checks the ARN of a request.
func tableARN(arn *string, operation string) (string, error) {
	switch {
	case arn == nil:
		return "", attribute.Invalidf("Invalid TableArn")
	case !anyARN.MatchString(*arn):
		return "", &protocol.Error{
			Code:    "AccessDeniedException",
			Message: "User is not authorized to perform: dynamodb:" + operation + " on resource: " + *arn,
			Status:  400,
		}
	case !aTable.MatchString(*arn):
		return "", attribute.Invalidf("Invalid TableArn: Invalid ResourceArn provided as input %s", *arn)
	}
	return *arn, nil
}

// resource returns the table of an ARN.
func (s *Service) resource(arn string) (*table, error) {
	t, err := s.table(arn)
	if err != nil {
		return nil, &protocol.Error{
			Code:    "ResourceNotFoundException",
			Message: "Requested resource not found: ResourcArn: " + arn + " not found", // as AWS spells it
		}
	}
	return t, nil
}
