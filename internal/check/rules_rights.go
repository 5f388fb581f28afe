package check

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// rightsRules are about what the function's role allows.
func rightsRules() []Rule {
	const page = lambdaGuide + "services-sqs-configure.html#events-sqs-permissions"
	return []Rule{
		{
			ID: "E11", Title: "a role that lacks an action which the function or its mapping calls",
			Why: "The calls are refused: the mapping does not poll, delays are not kept, dead letters are not sent, or jobs " +
				"cannot be claimed and none runs.",
			Write:  "- {Effect: Allow, Action: ACTION, Resource: ARN}",
			Source: page,
			find:   func(m *model) []finding { return lacking(m, false) },
		},
		{
			ID: "E12", Title: "Policies of a SAM function that lack an action which sqsafe calls",
			Why: "SAM's own role lets the mapping receive and delete, but delays are not kept, dead letters are not sent, or " +
				"jobs cannot be claimed and none runs.",
			Write:  "Policies: [{SQSPollerPolicy: {QueueName: !GetAtt QUEUE.QueueName}}]",
			Source: samGuide + "serverless-policy-templates.html", Sqsafe: true,
			find: func(m *model) []finding { return lacking(m, true) },
		},
		{
			ID: "W12", Title: "a policy for all queues of the account",
			Why: "A fault in the function, or in a library of it, can read, delete or purge the jobs of every other queue in " +
				"the account.",
			Write: "# a role with a statement for this queue; SAM's own role always has the policy for all queues",
			Source: "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/" +
				"AWSLambdaSQSQueueExecutionRole.html",
			find: allQueues,
		},
		{
			ID: "W33", Title: "a function that may send to its own source queue",
			Why: "A retry by sending a copy has a new receive count, so a job that fails never ends; Lambda stops such a " +
				"loop after about 16 rounds and sends the message to the dead-letter queue.",
			Write:  "# leave a failed message in the queue; remove sqs:SendMessage on the source",
			Source: lambdaGuide + "invocation-recursion.html",
			find:   sendsToItself,
		},
	}
}

// need is an action that a function calls on a resource of the template.
type need struct {
	action, property string
	on               *resource
	why              string
}

// needs are the actions that the mapping of a function, and sqsafe in it, call.
func (m *model) needs(c *consumer) []need {
	var list []need
	if c.queue != nil {
		for _, action := range []string{"ReceiveMessage", "DeleteMessage", "GetQueueAttributes"} {
			list = append(list, need{"sqs:" + action, "QueueName", c.queue, "the event source mapping"})
		}
		list = m.needsKey(list, c.queue, "kms:Decrypt")
	}
	if !usesSqsafe(c.function) {
		return list
	}
	if c.queue != nil {
		list = append(list, need{"sqs:ChangeMessageVisibility", "QueueName", c.queue, "the delay of a retry"})
	}
	dead, _ := m.queueOf(variables(c.function).get("SQSAFE_DLQ_URL"))
	if dead != nil && dead != c.queue {
		list = append(list, need{"sqs:SendMessage", "QueueName", dead, "a dead letter"})
		list = m.needsKey(list, dead, "kms:GenerateDataKey")
	}
	if table := m.ledgerOf(c.function); table != nil {
		list = append(list, need{"dynamodb:UpdateItem", "TableName", table, "the ledger"})
	}
	return list
}

// needsKey adds an action on the queue's own key, if its policy is not one that
// names roles by itself.
func (m *model) needsKey(list []need, q *resource, action string) []need {
	key, _ := m.resourceOf(q.props.get("KmsMasterKeyId"), "", "AWS::KMS::Key")
	if key == nil {
		return list
	}
	return append(list, need{action, "", key, "the key of " + q.id})
}

func lacking(m *model, bySAM bool) []finding {
	var list []finding
	seen := map[*resource]bool{}
	for _, c := range m.consumers {
		if c.function == nil || seen[c.function] {
			continue
		}
		r := m.rightsOf(c.function)
		if r.bySAM != bySAM || len(r.statements) == 0 && !r.whole || bySAM && !usesSqsafe(c.function) {
			continue
		}
		seen[c.function] = true
		for _, other := range m.consumers {
			if other.function == c.function {
				list = append(list, m.refused(other, &r)...)
			}
		}
	}
	return list
}

// refused returns a finding for each resource on which actions are missing.
func (m *model) refused(c *consumer, r *rights) []finding {
	var list []finding
	byResource := map[*resource]int{}
	for _, n := range m.needs(c) {
		if r.allows(m, n.action, n.on, n.property) != no || n.on.exists == no {
			continue
		}
		if n.on.kind == typeQueue && m.mayHavePolicy(n.on) {
			continue
		}
		if r.role != nil && n.property == "" && mentions(n.on.body, r.role.id) {
			continue
		}
		if i, ok := byResource[n.on]; ok {
			before, after, _ := strings.Cut(list[i].detail, " on ")
			list[i].detail = before + ", " + n.action + " on " + after
			continue
		}
		byResource[n.on] = len(list)
		owner, name, at := c.function, "its Policies lack", r.at
		if r.role != nil {
			owner, name = r.role, "the role "+r.role.id+" lacks"
		}
		f := found(owner, at, "%s invokes %s, and %s %s on %s, for %s",
			c.source(), c.function.id, name, n.action, n.on.id, n.why)
		list = append(list, f.writing("%s", rightLines(r, n)))
	}
	return list
}

func (c *consumer) source() string {
	if c.queue != nil {
		return c.queue.id
	}
	return "a queue"
}

func rightLines(r *rights, n need) string {
	switch {
	case r.bySAM && strings.HasPrefix(n.action, "sqs:Send"):
		return fmt.Sprintf("Policies: [{SQSSendMessagePolicy: {QueueName: !GetAtt %s.QueueName}}]", n.on.id)
	case r.bySAM && n.property == "QueueName":
		return fmt.Sprintf("Policies: [{SQSPollerPolicy: {QueueName: !GetAtt %s.QueueName}}]", n.on.id)
	case r.bySAM && n.property == "TableName":
		return fmt.Sprintf("Policies: [{DynamoDBWritePolicy: {TableName: !Ref %s}}]", n.on.id)
	}
	return fmt.Sprintf("- {Effect: Allow, Action: %s, Resource: !GetAtt %s.Arn}", n.action, n.on.id)
}

func allQueues(m *model) []finding {
	var list []finding
	for _, f := range m.served() {
		given := f.props.get("Role")
		if given.absent() && f.kind == typeServerless && usesSqsafe(f) {
			list = append(list, found(f, f.key, "SAM makes the role of %s, with a policy for all queues", f.id))
			continue
		}
		id, _, _ := given.reference()
		owner, policies := f, f.props.get("Policies")
		if role := m.byID[id]; role != nil && role.kind == typeRole {
			owner, policies = role, role.props.get("ManagedPolicyArns")
		}
		items, _ := policies.items()
		for _, p := range items {
			name := lastPart(p.text)
			if name == "AmazonSQSFullAccess" || name == "AWSLambdaSQSQueueExecutionRole" && usesSqsafe(f) {
				list = append(list, found(owner, p.node, "%s has the policy %s", owner.id, name))
			}
		}
	}
	return list
}

// sendsToItself finds roles with a right to send that names the source queue
// itself. A right for all queues says nothing, unless the function is given the
// queue's URL as well.
func sendsToItself(m *model) []finding {
	var list []finding
	for _, c := range m.consumers {
		if c.function == nil || c.queue == nil {
			continue
		}
		r := m.rightsOf(c.function)
		if at := m.toldOf(c); at != nil && r.allows(m, "sqs:SendMessage", c.queue, "QueueName") == yes {
			list = append(list, found(c.function, at, "%s is given the URL of %s, which invokes it, and may send to it",
				c.function.id, c.queue.id))
			continue
		}
		for _, s := range r.statements {
			if s.deny || s.everywhere || !s.names("sqs:SendMessage") {
				continue
			}
			if at := s.naming(m, c.queue); at != nil {
				list = append(list, found(c.function, at, "%s may send to %s, which invokes it", c.function.id, c.queue.id))
				break
			}
		}
	}
	return list
}

// toldOf returns the place where a variable of the function is the URL of its
// source queue, or nil.
func (m *model) toldOf(c *consumer) *yaml.Node {
	own := variables(c.function)
	for _, e := range cfn.Entries(own.node) {
		v := own.get(e.Key.Value)
		if id, attribute, ok := v.reference(); ok && id == c.queue.id && (attribute == "Ref" || attribute == "QueueUrl") &&
			e.Key.Value != "SQSAFE_DLQ_URL" {
			return v.node
		}
	}
	return nil
}

// naming returns the place where a statement names a queue itself, or nil.
func (s *statement) naming(m *model, q *resource) *yaml.Node {
	for _, action := range s.actions {
		if action == "*" || action == "sqs:*" {
			return nil // an administrator's right is no intention
		}
	}
	for _, v := range s.on {
		if target, _ := m.queueOf(v); target == q {
			return v.node
		}
	}
	return nil
}
