package producer

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/internal/sqssend"
)

const (
	// encodingAttribute and gzipped are what envelope.Encoding reads.
	encodingAttribute = "content-encoding"
	gzipped           = "gzip+base64"
	// sizeAttribute is what the extended client libraries of SQS add to a claim check.
	sizeAttribute = "ExtendedPayloadSize"
)

// set sets an attribute of a message. The map is the draft's own.
func set(d *sqssend.Draft, name string, value types.MessageAttributeValue) {
	if d.Attributes == nil {
		d.Attributes = map[string]types.MessageAttributeValue{}
	}
	d.Attributes[name] = value
}

// compress replaces a large body by its gzip in base64, if that is smaller.
func (p *Producer) compress(d *sqssend.Draft) error {
	if from := p.options.GzipFrom; from == 0 || len(d.Body) < from {
		return nil
	}
	if _, encoded := d.Attributes[encodingAttribute]; encoded {
		return nil // the caller has encoded it
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(d.Body)); err != nil {
		return fmt.Errorf("gzip: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("gzip: %w", err)
	}
	if text := base64.StdEncoding.EncodeToString(packed.Bytes()); len(text) < len(d.Body) {
		d.Body = text
		set(d, encodingAttribute, sqssend.Text(gzipped))
	}
	return nil
}

// large reports whether the body has to be stored.
func (p *Producer) large(d *sqssend.Draft) bool {
	return p.options.ClaimCheck != nil && d.Large()
}

// checkRest checks a message whose body will be stored.
func (p *Producer) checkRest(d *sqssend.Draft) error {
	checked := *d
	checked.Body = envelope.Pointer{}.Content()
	checked.Attributes = maps.Clone(d.Attributes)
	set(&checked, sizeAttribute, number(0))
	return checked.Check()
}

func number(n int) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("Number"), StringValue: aws.String(strconv.Itoa(n))}
}

// store replaces the body by a claim check.
func (p *Producer) store(ctx context.Context, d *sqssend.Draft, key string) error {
	pointer, err := p.options.ClaimCheck(ctx, key, d.Body)
	if err != nil {
		return fmt.Errorf("the payload was not stored: %w", err)
	}
	set(d, sizeAttribute, number(len(d.Body)))
	d.Body = pointer.Content()
	return nil
}
