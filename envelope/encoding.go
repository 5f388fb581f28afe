package envelope

import (
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sqsafe/sqsafe/handler"
)

// Base64 decodes bodies that are standard base64 with padding, which is how bytes
// travel in a queue: SQS takes only text.
func Base64(next handler.Handler) handler.Handler {
	return wrapped{next, func(m *handler.Message) error {
		data, err := unBase64(m.Content())
		if err != nil {
			return fmt.Errorf("%w: take envelope.Base64 away if the payload comes as it is", err)
		}
		m.Unwrap(string(data), nil)
		return nil
	}}
}

// EncodingOptions say how [Encoding] reads a message. The zero value works.
type EncodingOptions struct {
	// Attribute is the name of the message attribute that tells the encoding; empty
	// means content-encoding.
	Attribute string
	// MaxBytes is the most that a body may unpack to; 0 means 10 MiB. A small body
	// can unpack to a thousand times its size.
	MaxBytes int64
}

const (
	defaultAttribute = "content-encoding"
	defaultMaxBytes  = 10 << 20
)

// Encoding decodes bodies as their attribute content-encoding says: base64, or
// gzip+base64 for what was packed first and then encoded, since SQS takes only
// text. gzip alone means the latter too. A message without the attribute, or
// with identity in it, passes as it is. Capitals do not count. A nil o is the
// zero EncodingOptions.
func Encoding(next handler.Handler, o *EncodingOptions) handler.Handler {
	set := EncodingOptions{}
	if o != nil {
		set = *o
	}
	if set.Attribute == "" {
		set.Attribute = defaultAttribute
	}
	if set.MaxBytes <= 0 {
		set.MaxBytes = defaultMaxBytes
	}
	// One byte more is read to see that there is one.
	set.MaxBytes = min(set.MaxBytes, math.MaxInt64-1)
	return wrapped{next, set.open}
}

func (o EncodingOptions) open(m *handler.Message) error {
	name, _ := m.Attribute(o.Attribute)
	decode := o.decoder(name)
	if decode == nil {
		return fmt.Errorf("attribute %s is %s, want base64, gzip+base64 or identity: "+
			"change what the producer sets, or decode it in a handler of your own", quoted(o.Attribute), quoted(name))
	}
	content, err := decode(m.Content())
	if err != nil {
		return fmt.Errorf("attribute %s is %s, but %w", quoted(o.Attribute), quoted(name), err)
	}
	m.Unwrap(content, nil)
	return nil
}

// decoder is the one for that encoding; nil if there is none.
func (o EncodingOptions) decoder(name string) func(string) (string, error) {
	switch strings.ToLower(strings.ReplaceAll(name, " ", "")) {
	case "", "identity":
		return func(content string) (string, error) { return content, nil }
	case "base64":
		return func(content string) (string, error) {
			data, err := unBase64(content)
			return string(data), err
		}
	case "gzip", "gzip+base64", "gzip,base64":
		return o.unpack
	}
	return nil
}

func (o EncodingOptions) unpack(content string) (string, error) {
	packed, err := unBase64(content)
	if err != nil {
		return "", err
	}
	reader, err := gzip.NewReader(strings.NewReader(string(packed)))
	if err != nil {
		return "", fmt.Errorf("what the body holds is not gzip: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(reader, o.MaxBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the gzip in the body is damaged: %w", err)
	case int64(len(data)) > o.MaxBytes:
		return "", fmt.Errorf("the body unpacks to more than %d bytes: "+
			"raise EncodingOptions.MaxBytes if that is meant", o.MaxBytes)
	}
	return string(data), nil
}

// unBase64 says where content is not base64, without showing it.
func unBase64(content string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(content)
	if corrupt, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return nil, fmt.Errorf("the body is not standard base64 with padding, as its byte %d shows", int64(corrupt)+1)
	}
	return data, err
}
