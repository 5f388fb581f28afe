package check

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// deadLetterRules are about dead-letter queues and the way to them.
func deadLetterRules() []Rule {
	return []Rule{
		{
			ID: "E05", Title: "a maxReceiveCount within the attempts that sqsafe grants a job",
			Why:   "SQS itself moves jobs before they have had their attempts, without a verdict and without a record.",
			Write: "maxReceiveCount: 30", Source: pageDead, Sqsafe: true,
			find: receivesWithinBudget,
		},
		{
			ID: "W05", Title: "a maxReceiveCount below 5",
			Why: "A throttled invocation and a deployment count as receives, so healthy jobs are dead-lettered that never " +
				"ran.",
			Write: "maxReceiveCount: 5", Source: pageConfigure,
			find: fewReceives,
		},
		{
			ID: "E09", Title: "a dead-letter queue that keeps messages shorter than its source",
			Why: "The age of a message runs from its first send, so a job that waited in the source is deleted when it " +
				"is dead-lettered, or soon after.",
			Write: "MessageRetentionPeriod: 1209600", Source: pageRetention,
			find: func(m *model) []finding { return keptTooShort(m, false) },
		},
		{
			ID: "W09", Title: "a dead-letter queue that keeps messages no longer than its source",
			Why: "The age of a message runs from its first send, so after days of trouble a dead letter is left for hours " +
				"only, and then it is deleted.",
			Write: "MessageRetentionPeriod: 1209600", Source: pageRetention,
			find: func(m *model) []finding { return keptTooShort(m, true) },
		},
		{
			ID: "E10", Title: "a RedriveAllowPolicy that denies the source",
			Why:    "SQS refuses the redrive policy of the source, or moves nothing, and failed jobs come back for ever.",
			Write:  "RedriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [SOURCE ARN]}",
			Source: pageDead,
			find:   denied,
		},
		{
			ID: "W25", Title: "a dead-letter queue or a ledger that is deleted with its stack, or a log that grows for ever",
			Why: "When the stack is deleted, or the resource is taken out of it, the failed jobs or the memory of the " +
				"done ones are gone; a log group without retention is kept and paid for ever.",
			Write:  "DeletionPolicy: RetainExceptOnCreate",
			Source: formationGuide + "aws-attribute-deletionpolicy.html",
			find:   deletedWithStack,
		},
	}
}

// eachRedrive calls visit for each source queue with consumers, once.
func (m *model) eachRedrive(visit func(c *consumer, policy value, target *resource, receives number)) {
	seen := map[*resource]bool{}
	for _, c := range m.consumers {
		if c.queue == nil || seen[c.queue] {
			continue
		}
		seen[c.queue] = true
		policy, target, receives := m.redrive(c.queue)
		if !policy.absent() {
			visit(c, policy, target, receives)
		}
	}
}

func receivesWithinBudget(m *model) []finding {
	var list []finding
	m.eachRedrive(func(c *consumer, policy value, target *resource, receives number) {
		if !usesSqsafe(c.function) {
			return
		}
		b := budgetOf(c.function)
		if !receives.known || !b.known || receives.n > b.attempts {
			return
		}
		want := max(30, b.attempts*3)
		if c.fifo == yes {
			want = max(200, b.attempts*10)
		}
		f := found(c.queue, receives.node, "maxReceiveCount of %s is %d, and %s grants a job %d attempts",
			c.queue.id, receives.n, c.function.id, b.attempts).
			writing("maxReceiveCount: %d # and SQSAFE_MAX_RECEIVES", want)
		list = append(list, f.fixedBy(receive(c, policy, want)...))
	})
	return list
}

// receive sets maxReceiveCount, and SQSAFE_MAX_RECEIVES with it.
func receive(c *consumer, policy value, n int) []edit {
	edits := []edit{replace(policy.get("maxReceiveCount").node, digits(n))}
	if given := variables(c.function).get("SQSAFE_MAX_RECEIVES"); given.known() {
		edits = append(edits, replace(given.node, digits(n)))
	}
	return edits
}

func fewReceives(m *model) []finding {
	const least = 5
	var list []finding
	m.eachRedrive(func(c *consumer, policy value, _ *resource, receives number) {
		if usesSqsafe(c.function) || !receives.known || receives.n >= least {
			return
		}
		f := found(c.queue, receives.node, "maxReceiveCount of %s is %d", c.queue.id, receives.n)
		list = append(list, f.fixedBy(replace(policy.get("maxReceiveCount").node, digits(least))))
	})
	return list
}

func keptTooShort(m *model, equal bool) []finding {
	var list []finding
	for _, dead := range m.deadLetterQueues() {
		for _, source := range m.sources(dead) {
			keep, before := retention(dead), retention(source)
			if fifo(source) != no || !keep.known || !before.known || keep.n > before.n || (keep.n == before.n) != equal {
				continue
			}
			f := found(dead, dead.at("MessageRetentionPeriod"), "%s keeps messages for %s, its source %s for %s",
				dead.id, minutes(keep.n), source.id, minutes(before.n))
			if before.n >= mostRetention {
				f = f.writing("MessageRetentionPeriod: %d # in %s; SQS keeps nothing longer than 14 days",
					defaultRetention, source.id)
			} else {
				f = f.fixedBy(set(dead.own(), "MessageRetentionPeriod", digits(mostRetention)))
			}
			list = append(list, f)
			break
		}
	}
	return list
}

func denied(m *model) []finding {
	var list []finding
	for _, dead := range m.deadLetterQueues() {
		policy := dead.props.get("RedriveAllowPolicy")
		for _, source := range m.sources(dead) {
			switch permission := policy.get("redrivePermission").text; permission {
			case "denyAll":
			case "byQueue":
				arns, whole := policy.get("sourceQueueArns").items()
				named := !whole || slices.ContainsFunc(arns, func(arn value) bool {
					q, known := m.queueOf(arn)
					return q == source || !known
				})
				if named {
					continue
				}
			default:
				continue
			}
			f := found(dead, dead.at("RedriveAllowPolicy"), "the RedriveAllowPolicy of %s does not allow %s", dead.id, source.id)
			list = append(list, f.writing(
				"RedriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [!GetAtt %s.Arn]}", source.id))
		}
	}
	return list
}

// deletedWithStack finds dead-letter queues of queues with a consumer, ledgers,
// and the log groups of their functions.
func deletedWithStack(m *model) []finding {
	var list []finding
	keep := func(r *resource, what string) {
		policy := cfn.Member(r.body, "DeletionPolicy")
		if policy != nil && strings.HasPrefix(policy.Value, "Retain") {
			return
		}
		at := r.key
		if policy != nil {
			at = policy
		}
		f := found(r, at, "%s, %s, is deleted with its stack", r.id, what)
		f = f.writing("DeletionPolicy: RetainExceptOnCreate").
			fixedBy(set(r.body, "DeletionPolicy", "RetainExceptOnCreate"))
		if cfn.Member(r.body, "UpdateReplacePolicy") == nil { // cfn-lint wants both
			f = f.fixedBy(set(r.body, "UpdateReplacePolicy", "Retain"))
		}
		list = append(list, f)
	}
	for _, dead := range m.deadLetterQueues() {
		if slices.ContainsFunc(m.sources(dead), func(q *resource) bool { return len(m.consumersOf(q)) > 0 }) {
			keep(dead, "a dead-letter queue")
		}
	}
	for _, table := range m.of(typeTable, typeSimpleTable) {
		if slices.ContainsFunc(m.served(), func(f *resource) bool { return m.ledgerOf(f) == table }) {
			keep(table, "a ledger")
		}
	}
	for _, group := range m.of(typeLogGroup) {
		if group.props.get("RetentionInDays").absent() && m.logsServed(group) {
			f := found(group, group.key, "%s has no RetentionInDays", group.id).writing("RetentionInDays: 30")
			list = append(list, f.fixedBy(set(group.own(), "RetentionInDays", "30")))
		}
	}
	return list
}

// logsServed reports whether a log group is that of a function that a queue
// invokes.
func (m *model) logsServed(group *resource) bool {
	return slices.ContainsFunc(m.served(), func(f *resource) bool {
		own := f.props.get("LoggingConfig").get("LogGroup")
		if g, _ := m.resourceOf(own, "LogGroupName", typeLogGroup); g != nil {
			return g == group
		}
		return strings.HasPrefix(group.props.get("LogGroupName").text, "/aws/lambda/") &&
			mentions(cfn.Member(group.props.node, "LogGroupName"), f.id)
	})
}

// ledgerOf returns the table of a function of sqsafe, or nil.
func (m *model) ledgerOf(f *resource) *resource {
	table, _ := m.resourceOf(variables(f).get("SQSAFE_TABLE"), "TableName", typeTable, typeSimpleTable)
	return table
}

// under returns a list of the members with this key, wherever they stand below a
// node; nil if there is none.
func under(n *yaml.Node, key string) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for _, e := range cfn.Entries(n) {
			if e.Key.Value == key {
				list.Content = append(list.Content, e.Value)
			}
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(n)
	if len(list.Content) == 0 {
		return nil
	}
	return list
}
