package kms

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Alias is the name of the key.
const Alias = "alias/aws/dynamodb"

// Service has one key. It is safe for concurrent use.
type Service struct {
	account, arn, id string
	created          time.Time
}

// New returns a Service whose key has an id in a region of an account.
func New(created time.Time, region, account, id string) *Service {
	return &Service{account: account, arn: ARN(region, account, id), id: id, created: created}
}

// ARN returns the ARN of a key.
func ARN(region, account, id string) string {
	return "arn:aws:kms:" + region + ":" + account + ":key/" + id
}

type describeKeyParameters struct {
	KeyId       string
	GrantTokens []string
}

// metadata is what DescribeKey says of the key.
type metadata struct {
	AWSAccountId          string
	KeyId                 string
	Arn                   string
	CreationDate          protocol.Timestamp
	Enabled               bool
	Description           string
	KeyUsage              string
	KeyState              string
	Origin                string
	KeyManager            string
	CustomerMasterKeySpec string
	KeySpec               string
	EncryptionAlgorithms  []string
	MultiRegion           bool
}

type describeKeyResponse struct{ KeyMetadata metadata }

// Operate answers one request. An error that AWS would return is a
// [*protocol.Error].
func (s *Service) Operate(_ context.Context, r *protocol.Request) (response any, err error) {
	if r.Operation != "DescribeKey" {
		return nil, &protocol.Error{
			Code:    "UnknownOperationException",
			Message: fmt.Sprintf("this emulator for KMS does not implement the operation %s; it has DescribeKey", r.Operation),
		}
	}
	var p describeKeyParameters
	if err := r.Decode(&p); err != nil {
		return nil, err
	}
	switch p.KeyId {
	case s.id, s.arn, Alias:
		return describeKeyResponse{s.describe()}, nil
	}
	return nil, &protocol.Error{Code: "NotFoundException", Message: fmt.Sprintf("Key '%s' does not exist", p.KeyId)}
}

func (s *Service) describe() metadata {
	return metadata{
		AWSAccountId: s.account, KeyId: s.id, Arn: s.arn, CreationDate: protocol.Timestamp{Time: s.created}, Enabled: true,
		Description: "Default key that protects my DynamoDB data when no other key is defined", // AWS's own words
		KeyUsage:    "ENCRYPT_DECRYPT", KeyState: "Enabled", Origin: "AWS_KMS", KeyManager: "AWS",
		CustomerMasterKeySpec: "SYMMETRIC_DEFAULT", KeySpec: "SYMMETRIC_DEFAULT",
		EncryptionAlgorithms: []string{"SYMMETRIC_DEFAULT"},
	}
}
