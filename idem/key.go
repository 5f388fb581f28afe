package idem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/jsonobject"
)

// ReasonMissingKey is the reason of a job that has no key, or none that can be
// kept.
const ReasonMissingKey = "missing_key"

// KeyFunc finds a job's idempotency key: two messages with one key ask for one
// job. It must give the same key at every delivery and be safe for concurrent
// use. A key that is empty or not in UTF-8 dead-letters the job, an error goes
// the way of any other error of the handler, and a panic dead-letters the job with
// [handler.ReasonPanic]. Keys are compared byte by byte: no
// case is folded and no Unicode normalised.
type KeyFunc func(ctx context.Context, m *handler.Message) (string, error)

// JSONField takes the key from a member of a JSON payload. The path names the
// members from the outermost object inwards, joined by dots: "id", "order.id".
// Names are taken exactly as they are written; names with a dot and elements
// of arrays cannot be named, which a function can do.
//
// A string is the key as it is, a number as it is written, so that 1 and 1.0
// are two keys. Everything else, an empty string, one with a broken character
// and a missing member make the job permanently failed, with
// [ReasonMissingKey]. So does an object on the path in which the member is not the
// only one that encoding/json reads into the same field: another member whose name
// differs only by case, or the same name again with another value. The function
// would not see the value that is the key. JSONField panics if the path has an
// empty name.
func JSONField(path string) KeyFunc {
	names := strings.Split(path, ".")
	for _, name := range names {
		if name == "" {
			panic(fmt.Sprintf("idem.JSONField: path %q has an empty name; write it like \"id\" or \"order.id\"", path))
		}
	}
	return func(_ context.Context, m *handler.Message) (string, error) {
		key, err := jsonKey(m.Content(), names)
		if err != nil {
			return "", missingKey(fmt.Errorf("idempotency key %q: %w", path, err))
		}
		return key, nil
	}
}

// jsonKey follows names through the objects of body to a string or number.
func jsonKey(body string, names []string) (string, error) {
	if !json.Valid([]byte(body)) {
		return "", notObject(nil)
	}
	value := strings.TrimSpace(body)
	for i, name := range names {
		if value[0] != '{' {
			return "", notObject(names[:i])
		}
		var err error
		if value, err = onlyMember(value, name); err != nil {
			return "", err
		}
	}
	switch value[0] {
	case '"':
		var text string
		if err := json.Unmarshal([]byte(value), &text); err != nil || text == "" {
			return "", errors.New("it is empty")
		}
		if strings.ContainsRune(text, utf8.RuneError) {
			return "", errors.New("it has a broken character, U+FFFD or half of a surrogate pair")
		}
		return text, nil
	case '{', '[', 't', 'f', 'n':
		return "", fmt.Errorf("it is %s, want a string or a number", jsonKinds[value[0]])
	default:
		return value, nil
	}
}

// onlyMember is the value of the one member of object that encoding/json would
// read into a field of that name.
func onlyMember(object, name string) (value string, err error) {
	var variant string
	for s := jsonobject.Scan(object); ; {
		found, more := s.Next()
		if !more {
			break
		}
		switch {
		case !strings.EqualFold(found, name):
		case found != name:
			variant = found
		case value == "":
			value = s.Value()
		case value != s.Value():
			return "", fmt.Errorf("the payload has %q twice, with different values", name)
		}
	}
	switch {
	case value == "" && variant == "":
		return "", errors.New("the payload does not have it")
	case value == "":
		return "", fmt.Errorf("the payload does not have it, but %q: name it as it is written", variant)
	case variant != "":
		return "", fmt.Errorf("the payload has both %q and %q, which encoding/json reads into one field", name, variant)
	}
	return value, nil
}

var jsonKinds = map[byte]string{'{': "an object", '[': "an array", 't': "a boolean", 'f': "a boolean", 'n': "null"}

func notObject(path []string) error {
	if len(path) == 0 {
		return errors.New("the payload is not a JSON object")
	}
	return fmt.Errorf("%q is not an object", strings.Join(path, "."))
}

// Attribute takes the key from a message attribute of type String or Number, the
// message's own or one that an envelope in its body carries. A message without it
// is permanently failed, with [ReasonMissingKey].
func Attribute(name string) KeyFunc {
	return func(_ context.Context, m *handler.Message) (string, error) {
		value, _ := m.Attribute(name)
		if value == "" {
			return "", missingKey(fmt.Errorf("idempotency key: the message has no text in its attribute %q", name))
		}
		return value, nil
	}
}

// MessageID takes the id that the message had when it was first sent: the one
// that its dead-letter record carries, or else its own. A message that the
// producer sends twice, or that SQS moves from a dead-letter queue before it
// had a record, has another id and is another job.
func MessageID() KeyFunc {
	return func(_ context.Context, m *handler.Message) (string, error) {
		if m.Replay != nil && m.Replay.MessageID != "" {
			return m.Replay.MessageID, nil
		}
		return m.MessageId, nil
	}
}

func missingKey(err error) error { return fault.Permanent(err, fault.WithReason(ReasonMissingKey)) }

var (
	errEmptyKey   = errors.New("the idempotency key is empty")
	errEncodedKey = errors.New("the idempotency key is not in UTF-8; write bytes in hexadecimal digits or base64")
)

// checkKey refuses keys that would stand for more than one job.
func checkKey(key string) error {
	switch {
	case key == "":
		return errEmptyKey
	case !utf8.ValidString(key):
		return errEncodedKey // a store would replace what is broken
	}
	return nil
}
