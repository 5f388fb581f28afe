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
	ResourceArn string
	Tags        []tag `rule:"required,is=Tag"`
}

type untagParameters struct {
	ResourceArn string
	TagKeys     []string `rule:"required"`
}

type listTagsParameters struct {
	ResourceArn string
	NextToken   string
}

type listTagsResponse struct{ Tags []tag }

func (s *Service) tagResource(p *tagParameters) (struct{}, error) {
	if err := tableARN(p.ResourceArn); err != nil {
		return struct{}{}, err
	}
	if len(p.Tags) == 0 {
		return struct{}{}, attribute.Invalidf("Atleast one Tag needs to be provided as Input.")
	}
	t, err := s.resource(p.ResourceArn)
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
	if err := tableARN(p.ResourceArn); err != nil {
		return struct{}{}, err
	}
	if len(p.TagKeys) == 0 {
		return struct{}{}, attribute.Invalidf("Atleast one Tag Key needs to be provided as Input.")
	}
	t, err := s.table(p.ResourceArn)
	if err != nil {
		return struct{}{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tags = slices.DeleteFunc(slices.Clone(t.tags), func(t tag) bool { return slices.Contains(p.TagKeys, t.Key) })
	return struct{}{}, nil
}

func (s *Service) listTagsOfResource(p *listTagsParameters) (listTagsResponse, error) {
	if err := tableARN(p.ResourceArn); err != nil {
		return listTagsResponse{}, err
	}
	t, err := s.resource(p.ResourceArn)
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

// onResource is decoded for the operations on an ARN, which is checked before the
// other parameters.
func onResource[P, R any](method func(*Service, *P) (R, error)) operation {
	return checked(method, checkARN)
}

// checkARN checks that there is an ARN.
func checkARN(s *Service, operation string, members map[string]any) error {
	arn, ok := members["ResourceArn"].(string)
	switch {
	case !ok:
		return attribute.Invalidf("Invalid TableArn")
	case !anyARN.MatchString(arn):
		return &protocol.Error{
			Code: "AccessDeniedException",
			Message: "User: arn:aws:iam::" + s.account + ":root is not authorized to perform: dynamodb:" + operation +
				" on resource: " + orDefault(arn, "*"),
		}
	}
	return nil
}

// tableARN checks that an ARN is one of a table.
func tableARN(arn string) error {
	if !aTable.MatchString(arn) {
		return attribute.Invalidf("Invalid TableArn: Invalid ResourceArn provided as input %s", arn)
	}
	return nil
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
