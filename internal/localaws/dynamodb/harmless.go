package dynamodb

import (
	"crypto/rand"
	"fmt"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// harmlessParameters are parameters of CreateTable and UpdateTable that are
// accepted with the values that change nothing here.
type harmlessParameters struct {
	StreamSpecification *streamSpecification `rule:"is=StreamSpecification"`
	SSESpecification    *sseSpecification    `rule:"is=SSESpecification"`
	TableClass          string               `rule:"enum=STANDARD|STANDARD_INFREQUENT_ACCESS"`
}

type streamSpecification struct {
	StreamEnabled  *bool  `rule:"required"`
	StreamViewType string `rule:"enum=NEW_IMAGE|OLD_IMAGE|NEW_AND_OLD_IMAGES|KEYS_ONLY"`
}

type sseSpecification struct {
	Enabled        *bool
	SSEType        string `rule:"enum=AES256|KMS"`
	KMSMasterKeyId string
}

func (s sseSpecification) ownKey() bool {
	return s.Enabled != nil && *s.Enabled || s.SSEType == "KMS" || s.KMSMasterKeyId != ""
}

// check refuses streams and keys of one's own.
func (p harmlessParameters) check(operation string) error {
	if s := p.StreamSpecification; s != nil && *s.StreamEnabled {
		return notImplemented(operation, "StreamSpecification with StreamEnabled=true")
	}
	if s := p.SSESpecification; s != nil && s.ownKey() {
		return notImplemented(operation, "SSESpecification with a key of one's own")
	}
	return nil
}

func notImplemented(operation, member string) error {
	return attribute.Invalidf("this emulator for DynamoDB does not implement the parameter %s of %s", member, operation)
}

// newID returns a random UUID of version 4.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
