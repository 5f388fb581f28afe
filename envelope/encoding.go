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

// Base64 decodes bodies that are standard base64 with padding. Producers send
// bytes in this form because SQS accepts only text.
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

// EncodingOptions are the settings of [Encoding]. The zero value works.
type EncodingOptions struct {
	// Attribute is the name of the message attribute that holds the encoding;
	// empty means content-encoding.
	Attribute string
	// MaxBytes is the maximum size of a decoded body; 0 means 10 MiB. A small
	// compressed body can decode to a thousand times its size.
	MaxBytes int64
}

const (
	defaultAttribute = "content-encoding"
	defaultMaxBytes  = 10 << 20
)

// Encoding decodes bodies as their attribute content-encoding says: base64, or
// gzip+base64 for a body that was compressed first and then encoded, since SQS
// accepts only text. gzip alone means gzip+base64 too. A message without the
// attribute, or with identity in it, is passed on unchanged. Upper and lower
// case are the same. Nil options mean the defaults.
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
	// Leave room for one byte more: it is read to detect a body that is too
	// long.
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

// decoder returns the decoder of that encoding, or nil if there is none.
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

// unBase64 decodes content. Its error says where content is not base64, without
// showing it.
func unBase64(content string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(content)
	if corrupt, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return nil, fmt.Errorf("the body is not standard base64 with padding, as its byte %d shows", int64(corrupt)+1)
	}
	return data, err
}
