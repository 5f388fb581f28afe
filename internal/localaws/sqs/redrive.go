package sqs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// redrivePolicy says after how many receives a message is moved, and to which
// dead-letter queue.
type redrivePolicy struct {
	TargetARN       string       `json:"deadLetterTargetArn"`
	MaxReceiveCount receiveCount `json:"maxReceiveCount"`
}

// normalize returns the text of the policy as it is stored: the sender's, with
// the receive count as a number.
func (p *redrivePolicy) normalize(text string) (string, error) {
	var sent struct {
		Count json.RawMessage `json:"maxReceiveCount"`
	}
	if json.Unmarshal([]byte(text), &sent) == nil && sent.Count[0] != '"' {
		return text, nil
	}
	normal, err := json.Marshal(p)
	return string(normal), err
}

// receiveCount is a number that may also be encoded as a string.
type receiveCount int

// UnmarshalJSON decodes a number or a string of digits.
func (c *receiveCount) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(b), `"`))
	*c = receiveCount(n)
	return err
}

// redriveAllowPolicy says which queues may use this one as dead-letter queue.
type redriveAllowPolicy struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns,omitempty"`
}

func (p *redriveAllowPolicy) allows(source string) bool {
	return p == nil || p.Permission == "allowAll" ||
		(p.Permission == "byQueue" && slices.Contains(p.Sources, source))
}

// parse parses the attributes that are policies. It returns the value to store.
func (set *settings) parse(name, value string) (string, error) {
	switch name {
	case redrivePolicyName:
		p, err := parseRedrive(value)
		if err != nil {
			return "", err
		}
		set.redrive = p
		return p.normalize(value)
	case redriveAllowName:
		p, err := parseRedriveAllow(value)
		set.allow = p
		return value, err
	case policyName:
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(value), &members); err != nil || members == nil {
			return "", invalidAttribute(name)
		}
	}
	return value, nil
}

func parseRedrive(value string) (*redrivePolicy, error) {
	wrong := func(reason string) error { return invalidValue(value, redrivePolicyName, reason) }
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(value), &members) != nil {
		return nil, wrong("Redrive policy is not a valid JSON map.")
	}
	for _, name := range []string{"deadLetterTargetArn", "maxReceiveCount"} {
		if members[name] == nil {
			return nil, wrong("Redrive policy does not contain mandatory attribute: " + name + ".")
		}
	}
	var p redrivePolicy
	if name, _ := protocol.UnknownMember([]byte(value), &p); name != "" {
		return nil, wrong("Redrive policy has an unknown attribute: " + name + ".")
	}
	if err := json.Unmarshal([]byte(value), &p); err != nil || p.MaxReceiveCount < 1 || p.MaxReceiveCount > 1000 {
		return nil, wrong("Invalid value for maxReceiveCount, which is an integer from 1 to 1000.")
	}
	return &p, nil
}

func parseRedriveAllow(value string) (*redriveAllowPolicy, error) {
	wrong := func(reason string) error { return invalidValue(value, redriveAllowName, reason) }
	var p redriveAllowPolicy
	if json.Unmarshal([]byte(value), &p) != nil {
		return nil, wrong("Redrive allow policy is not a valid JSON map.")
	}
	if name, _ := protocol.UnknownMember([]byte(value), &p); name != "" {
		return nil, wrong("Redrive allow policy has an unknown attribute: " + name + ".")
	}
	switch {
	case !slices.Contains([]string{"allowAll", "denyAll", "byQueue"}, p.Permission):
		return nil, wrong("redrivePermission is allowAll, denyAll or byQueue.")
	case p.Permission == "byQueue" && (len(p.Sources) < 1 || len(p.Sources) > 10):
		return nil, wrong("byQueue needs 1 to 10 sourceQueueArns.")
	case p.Permission != "byQueue" && len(p.Sources) > 0:
		return nil, wrong("sourceQueueArns go with byQueue only.")
	}
	return &p, nil
}

// checkRedrive returns an error if the dead-letter queue does not exist, is of
// the other type or does not allow this source queue.
func (s *Service) checkRedrive(name string, set settings) error {
	if set.redrive == nil {
		return nil
	}
	wrong := func(reason string) error {
		return invalidValue(set.values[redrivePolicyName], redrivePolicyName, reason)
	}
	target := s.byARN(set.redrive.TargetARN)
	switch {
	case target == nil:
		return wrong(fmt.Sprintf("Dead letter target does not exist in account %s and region %s.", s.account, s.region))
	case target.fifo() != isFIFO(name):
		return wrong("Dead-letter queue must be same type of queue as the source.")
	case !target.settings.allow.allows(s.arn(name)):
		return wrong("The redrive allow policy of the dead-letter queue does not allow this source.")
	}
	return nil
}

// deadLetter moves a message that has reached the maximum receive count. It
// reports whether it did: if the dead-letter queue does not exist the message
// stays.
func (s *Service) deadLetter(q *queue, m *message, now time.Time) bool {
	policy := q.settings.redrive
	if policy == nil || m.receives-m.before < int(policy.MaxReceiveCount) {
		return false
	}
	target := s.byARN(policy.TargetARN)
	if target == nil {
		return false
	}
	q.remove(m)
	m.source, m.before = q.arn, m.receives
	if q.fifo() {
		// In a FIFO queue the message gets a new enqueue time. In a standard
		// queue it keeps the old one.
		m.sent = now
		m.sequence = s.nextSequence()
		// Two messages with the same deduplication id must both fit into the
		// dead-letter queue.
		m.dedup = m.id
	}
	target.advance(now)
	target.add(m, now, 0)
	s.record(Redriven, q, m, 0, target.name)
	s.wakeOrSchedule(target)
	return true
}
