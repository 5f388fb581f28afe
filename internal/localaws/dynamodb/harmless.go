package dynamodb

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
)

// harmlessParameters are parameters of CreateTable and UpdateTable that are
// described but change nothing here. Of a StreamSpecification this is true only
// if it is off.
type harmlessParameters struct {
	StreamSpecification *streamSpecification `rule:"is=StreamSpecification"`
	SSESpecification    *sseSpecification    `rule:"is=SSESpecification"`
	TableClass          string               `rule:"enum=STANDARD|STANDARD_INFREQUENT_ACCESS"`
	WarmThroughput      *warmUnits           `rule:"is=WarmThroughput"`
	OnDemandThroughput  *onDemandUnits       `rule:"is=OnDemandThroughput"`
}

type warmUnits struct {
	ReadUnitsPerSecond  int64 `rule:"long,range=1.."`
	WriteUnitsPerSecond int64 `rule:"long,range=1.."`
}

type onDemandUnits struct {
	MaxReadRequestUnits  int64 `rule:"long"`
	MaxWriteRequestUnits int64 `rule:"long"`
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

// encryption describes the key of a table that is not encrypted with the key of
// the service.
type encryption struct {
	Status          string
	SSEType         string
	KMSMasterKeyArn string
}

// encryption returns what a table says of its key, or nil. The key that AWS
// manages is the same for all tables. Nothing is encrypted here.
func (p harmlessParameters) encryption(s *Service) *encryption {
	spec := p.SSESpecification
	if spec == nil || spec.Enabled == nil || !*spec.Enabled {
		return nil
	}
	arn := spec.KMSMasterKeyId
	if !strings.HasPrefix(arn, "arn:") {
		arn = "arn:aws:kms:" + s.region + ":" + s.account + ":key/" + orDefault(arn, s.keyID)
	}
	return &encryption{"ENABLED", "KMS", arn}
}

// apply changes settings as the parameters say.
func (p harmlessParameters) apply(s *Service, to *settings) {
	to.class = orDefault(p.TableClass, to.class)
	if p.SSESpecification != nil {
		to.encryption = p.encryption(s)
	}
	if p.WarmThroughput != nil {
		to.warm = p.WarmThroughput
	}
	if p.OnDemandThroughput != nil {
		to.onDemand = p.OnDemandThroughput
	}
}

// check refuses streams.
func (p harmlessParameters) check(operation string) error {
	if s := p.StreamSpecification; s != nil && *s.StreamEnabled {
		return notImplemented(operation, "StreamSpecification with StreamEnabled=true")
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
