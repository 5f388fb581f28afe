package sqs

import (
	"strconv"
	"strings"
	"time"
)

// received is a message in the response of ReceiveMessage.
type received struct {
	MessageID         string `json:"MessageId"`
	ReceiptHandle     string
	BodyMD5           string `json:"MD5OfBody"`
	Body              string
	Attributes        map[string]string    `json:",omitempty"`
	AttributesMD5     string               `json:"MD5OfMessageAttributes,omitempty"`
	MessageAttributes map[string]Attribute `json:",omitempty"`
}

// present returns the message in the form of the response, with the attributes
// that were requested.
func (want receiving) present(s *Service, m *message) received {
	attributes := want.attributes.of(m.attributes)
	return received{
		MessageID:         m.id,
		ReceiptHandle:     m.handle,
		BodyMD5:           m.bodyMD5,
		Body:              m.body,
		Attributes:        m.system(s.account, want.systemNames),
		AttributesMD5:     attributesDigest(attributes),
		MessageAttributes: attributes,
	}
}

// selection lists names of message attributes, prefixes that end in .* , or All
// or * for all of them.
type selection []string

func (names selection) of(attributes map[string]Attribute) map[string]Attribute {
	some := map[string]Attribute{}
	for name, a := range attributes {
		if names.has(name) {
			some[name] = a
		}
	}
	return some
}

func (names selection) has(name string) bool {
	for _, n := range names {
		prefix, open := strings.CutSuffix(n, ".*")
		if n == name || n == "All" || n == "*" || (open && strings.HasPrefix(name, prefix)) {
			return true
		}
	}
	return false
}

// systemAttributes are the message system attributes, set by SQS or by the
// sender. An attribute with an empty value is left out.
var systemAttributes = map[string]func(m *message, account string) string{
	"SenderId":                         func(_ *message, account string) string { return account },
	"SentTimestamp":                    func(m *message, _ string) string { return millis(m.sent) },
	"ApproximateReceiveCount":          func(m *message, _ string) string { return strconv.Itoa(m.receives) },
	"ApproximateFirstReceiveTimestamp": func(m *message, _ string) string { return millis(m.firstReceive) },
	"SequenceNumber":                   func(m *message, _ string) string { return m.sequence },
	"MessageDeduplicationId":           func(m *message, _ string) string { return m.dedup },
	"MessageGroupId":                   func(m *message, _ string) string { return m.group },
	"DeadLetterQueueSourceArn":         func(m *message, _ string) string { return m.source },
	traceHeader: func(m *message, _ string) string {
		if a, ok := m.systemAttributes[traceHeader]; ok {
			return *a.StringValue
		}
		return ""
	},
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

func (m *message) system(account string, names map[string]bool) map[string]string {
	some := map[string]string{}
	for name := range names {
		if value := systemAttributes[name](m, account); value != "" {
			some[name] = value
		}
	}
	return some
}

// systemNames returns the system attributes that a receive requests, in either
// of the parameters that AWS supports.
func systemNames(lists ...[]string) (map[string]bool, error) {
	names := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			if name == "All" {
				for n := range systemAttributes {
					names[n] = true
				}
				continue
			}
			if systemAttributes[name] == nil {
				return nil, refusal("InvalidAttributeName", "Unknown Attribute %s.", name)
			}
			names[name] = true
		}
	}
	return names, nil
}
