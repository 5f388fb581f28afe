package sqs

import (
	"encoding/json"
	"regexp"
	"slices"
)

// maxActions is the maximum number of actions of a permission (AWS limit).
const maxActions = 7

// shareable are the actions that a queue's owner can allow to others.
var shareable = []string{
	"*", "ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "GetQueueUrl",
	"ListDeadLetterSourceQueues", "PurgeQueue", "ReceiveMessage", "SendMessage",
}

var (
	labels   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)
	accounts = regexp.MustCompile(`^[0-9]{12}$`)
)

// policy is a queue policy as AddPermission writes it. The policy is stored and
// not applied.
type policy struct {
	Version    string
	ID         string            `json:"Id,omitempty"`
	Statements []json.RawMessage `json:"Statement"`
}

type statement struct {
	SID       string `json:"Sid"`
	Effect    string
	Principal map[string]any
	Action    any
	Resource  string
}

type addPermissionInput struct {
	target
	Label         string
	AWSAccountIDs []string `json:"AWSAccountIds"`
	Actions       []string
}

func (s *Service) addPermission(q *queue, in addPermissionInput) (empty, error) {
	if err := in.check(); err != nil {
		return empty{}, err
	}
	p := q.policy()
	if slices.ContainsFunc(p.Statements, hasLabel(in.Label)) {
		return empty{}, invalidValue(in.Label, "Label", "Already exists.")
	}
	principals := make([]string, 0, len(in.AWSAccountIDs))
	for _, id := range in.AWSAccountIDs {
		principals = append(principals, "arn:aws:iam::"+id+":root")
	}
	actions := make([]string, 0, len(in.Actions))
	for _, name := range in.Actions {
		actions = append(actions, "SQS:"+name)
	}
	text, err := json.Marshal(statement{
		SID: in.Label, Effect: "Allow", Principal: map[string]any{"AWS": oneOrAll(principals)},
		Action: oneOrAll(actions), Resource: q.arn,
	})
	if err != nil {
		return empty{}, err
	}
	p.Statements = append(p.Statements, text)
	return empty{}, s.setPolicy(q, p)
}

func (in addPermissionInput) check() error {
	switch {
	case in.Label == "":
		return missing("Label")
	case !labels.MatchString(in.Label):
		return invalidValue(in.Label, "Label",
			"Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length.")
	case len(in.Actions) == 0:
		return missing("Actions")
	case len(in.Actions) > maxActions:
		return refusal("OverLimit", "%d Actions were found, maximum allowed is %d.", len(in.Actions), maxActions)
	}
	for _, name := range in.Actions {
		if !slices.Contains(shareable, name) {
			return invalidValue("SQS:"+name, "ActionName", "Only the queue owner is allowed to invoke this action.")
		}
	}
	if len(in.AWSAccountIDs) == 0 {
		return invalidValue("[]", "PrincipalId", "Unable to verify.")
	}
	for _, id := range in.AWSAccountIDs {
		if !accounts.MatchString(id) {
			return invalidValue("["+id+"]", "PrincipalId", "Unable to verify.")
		}
	}
	return nil
}

type removePermissionInput struct {
	target
	Label string
}

func (s *Service) removePermission(q *queue, in removePermissionInput) (empty, error) {
	if in.Label == "" {
		return empty{}, missing("Label")
	}
	p := q.policy()
	i := slices.IndexFunc(p.Statements, hasLabel(in.Label))
	if i < 0 {
		return empty{}, invalidValue(in.Label, "Label", "can't find label.")
	}
	p.Statements = slices.Delete(p.Statements, i, i+1)
	return empty{}, s.setPolicy(q, p)
}

// policy returns the policy of the queue, or one without statements.
func (q *queue) policy() policy {
	p := policy{Version: "2008-10-17", ID: q.arn + "/SQSDefaultPolicy"}
	var stored struct {
		policy
		Statements json.RawMessage `json:"Statement"`
	}
	if text := q.settings.values[policyName]; text == "" || json.Unmarshal([]byte(text), &stored) != nil {
		return p
	}
	p = stored.policy
	// A single statement need not be in a list.
	if json.Unmarshal(stored.Statements, &p.Statements) != nil && len(stored.Statements) > 0 {
		p.Statements = []json.RawMessage{stored.Statements}
	}
	return p
}

// setPolicy stores a policy, or removes the queue's if it has no statements.
func (s *Service) setPolicy(q *queue, p policy) error {
	text := ""
	if len(p.Statements) > 0 {
		encoded, err := json.Marshal(p)
		if err != nil {
			return err
		}
		text = string(encoded)
	}
	set, err := q.settings.with(map[string]string{policyName: text}, q.fifo())
	if err != nil {
		return err
	}
	q.settings, q.modified = set, s.clock.Now()
	return nil
}

func hasLabel(label string) func(json.RawMessage) bool {
	return func(text json.RawMessage) bool {
		var s struct {
			ID string `json:"Sid"`
		}
		return json.Unmarshal(text, &s) == nil && s.ID == label
	}
}

// oneOrAll returns the only value, or all of them.
func oneOrAll(values []string) any {
	if len(values) == 1 {
		return values[0]
	}
	return values
}
