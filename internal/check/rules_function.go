package check

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// functionRules are about the function: its concurrency, its versions, and
// settings that SQS events do not use.
func functionRules() []Rule {
	return []Rule{
		{
			ID: "E15", Title: "a reserved concurrency below MaximumConcurrency, or of 0",
			Why: "Lambda throttles batches that were received already: each time the receive count of their jobs rises, until " +
				"SQS dead-letters them without a run.",
			Write: "ReservedConcurrentExecutions: 5 # at least the MaximumConcurrency of all its queues", Source: pageScaling,
			find: reservedBelow,
		},
		{
			ID: "W15", Title: "a reserved concurrency below 5 without MaximumConcurrency",
			Why: "Lambda begins with five batches at a time, so some are throttled: the receive count of their jobs rises " +
				"without a run.",
			Write: "ScalingConfig: {MaximumConcurrency: 2}", Source: pageScaling,
			find: reservedFew,
		},
		{
			ID: "W18", Title: "a dead-letter queue or an OnFailure destination of a function that only SQS invokes",
			Why: "They are for asynchronous calls; failed jobs of a queue never come there, so nobody finds them where they " +
				"are looked for.",
			Write:  "RedrivePolicy: {deadLetterTargetArn: !GetAtt DeadLetterQueue.Arn, maxReceiveCount: 5} # of the source",
			Source: lambdaGuide + "invocation-async-retain-records.html",
			find:   asynchronous,
		},
		{
			ID: "W28", Title: "an alias with parameters in the environment, without UpdateReplacePolicy: Retain",
			Why: "A deployment that changes only a parameter replaces the version, and CloudFormation deletes the one before: " +
				"there is nothing to roll back to.",
			Write:  "UpdateReplacePolicy: Retain",
			Source: formationGuide + "aws-attribute-updatereplacepolicy.html",
			find:   versionsDeleted,
		},
		{
			ID: "E31", Title: "a durable function on a queue without a version or alias, or with an execution above 15 minutes",
			Why: "The mapping waits for the whole execution: without a qualified ARN it is refused, and an execution " +
				"that lasts longer than 15 minutes (90 on Managed Instances) fails and the batch comes back.",
			Write:  "AutoPublishAlias: live # and DurableConfig: {ExecutionTimeout: 900}",
			Source: lambdaGuide + "durable-invoking-esm.html",
			find:   durable,
		},
		{
			ID: "W37", Title: "an alias whose version does not change with the parameters in the environment",
			Why: "SAM publishes a version when the code or the text of the template changes, so a deployment that " +
				"changes only a parameter says it succeeded, and the alias goes on with the old value.",
			Write:  "VersionDescription: !Sub ${PARAMETER} # with each parameter of the environment",
			Source: samGuide + "automating-updates-to-serverless-apps.html",
			find:   valuesNotPublished,
		},
	}
}

// mostConcurrency returns the sum of MaximumConcurrency over a function's
// mappings. limited is false if one has no limit, known if one is not known.
func (m *model) mostConcurrency(f *resource) (sum int, limited, known bool) {
	limited, known = true, true
	for _, c := range m.consumers {
		if c.function != f || c.enabled() == no {
			continue
		}
		limit := c.concurrency()
		limited = limited && limit.node != nil
		known = known && limit.known
		sum += limit.n
	}
	return sum, limited, known
}

func reservedBelow(m *model) []finding {
	var list []finding
	for _, f := range m.served() {
		reserved := f.props.get("ReservedConcurrentExecutions").number(0)
		if reserved.node == nil || !reserved.known {
			continue
		}
		sum, limited, known := m.mostConcurrency(f)
		switch {
		case reserved.n == 0:
			list = append(list, found(f, reserved.node, "ReservedConcurrentExecutions of %s is 0, so it never runs", f.id))
		case limited && known && reserved.n < sum:
			x := found(f, reserved.node, "ReservedConcurrentExecutions of %s is %d, the MaximumConcurrency of its queues %d",
				f.id, reserved.n, sum).writing("ReservedConcurrentExecutions: %d", sum)
			list = append(list, x.fixedBy(replace(reserved.node, digits(sum))))
		}
	}
	return list
}

func reservedFew(m *model) []finding {
	const first = 5 // Lambda begins with as many concurrent batches
	var list []finding
	for _, f := range m.served() {
		reserved := f.props.get("ReservedConcurrentExecutions").number(0)
		_, limited, _ := m.mostConcurrency(f)
		if reserved.known && reserved.node != nil && reserved.n > 0 && reserved.n < first && !limited && !m.provisioned(f) {
			list = append(list, found(f, reserved.node, "ReservedConcurrentExecutions of %s is %d, and a queue of it has no "+
				"MaximumConcurrency", f.id, reserved.n).writing("ScalingConfig: {MaximumConcurrency: %d}", max(2, reserved.n)))
		}
	}
	return list
}

func (m *model) provisioned(f *resource) bool {
	for _, c := range m.consumers {
		if c.function == f && (!c.props.get("ProvisionedPollerConfig").absent() || c.fifo != no) {
			return true
		}
	}
	return false
}

func asynchronous(m *model) []finding {
	var list []finding
	for _, f := range m.served() {
		if m.invokedOtherwise(f) {
			continue
		}
		for _, path := range [][]string{
			{"DeadLetterQueue"}, {"DeadLetterConfig"}, {"EventInvokeConfig", "DestinationConfig", "OnFailure"},
		} {
			v := f.props
			for _, name := range path {
				v = v.get(name)
			}
			if !v.absent() && v.kind != kindUnknown {
				list = append(list, found(f, f.at(path[0]), "%s has %s, and only queues invoke it", f.id, strings.Join(path, ".")))
			}
		}
	}
	for _, r := range m.of(typeInvokeConfig) {
		f, _ := m.functionOf(r.props.get("FunctionName"))
		failure := r.props.get("DestinationConfig").get("OnFailure")
		if f != nil && m.isServed(f) && !m.invokedOtherwise(f) && !failure.absent() {
			x := found(r, r.at("DestinationConfig"), "%s has OnFailure for %s, and only queues invoke it", r.id, f.id)
			list = append(list, x)
		}
	}
	for _, c := range m.consumers {
		if !c.props.get("DestinationConfig").absent() {
			list = append(list, found(c.owner, c.at("DestinationConfig"), "%s has DestinationConfig, which a queue's "+
				"mapping does not take", c.name()))
		}
	}
	return list
}

// invokedOtherwise reports whether something other than a queue may invoke a
// function: another event, or a resource that names it.
func (m *model) invokedOtherwise(f *resource) bool {
	for _, e := range cfn.Entries(f.props.get("Events").node) {
		if kind := m.resolve(e.Value).get("Type").text; kind != "SQS" {
			return true
		}
	}
	for _, r := range m.all {
		switch {
		case r == f, r.is(typeMapping, typeAlarm, typeComposite, typeInvokeConfig, typeLogGroup, typeRole, typePolicy,
			typeAlias, typeVersion, typeQueue):
		case strings.HasPrefix(r.kind, "AWS::CloudWatch::"), strings.HasPrefix(r.kind, "AWS::ApplicationAutoScaling"),
			strings.HasPrefix(r.kind, "AWS::CodeDeploy::"), r.kind == "AWS::Logs::SubscriptionFilter":
		case mentions(r.body, f.id):
			return true
		}
	}
	return mentions(cfn.Member(m.root, "Outputs"), f.id)
}

// parametersIn returns the names of the template's parameters that stand in a
// node.
func (m *model) parametersIn(n *yaml.Node) map[string]bool {
	names := map[string]bool{}
	for name := range m.parameters {
		if mentions(n, name) {
			names[name] = true
		}
	}
	return names
}

// published calls visit for each SAM function with a queue, an alias and
// parameters in its environment.
func (m *model) published(visit func(f *resource, environment map[string]bool)) {
	for _, f := range m.served() {
		if f.kind != typeServerless || f.props.get("AutoPublishAlias").absent() {
			continue
		}
		if names := m.parametersIn(variables(f).node); len(names) > 0 {
			visit(f, names)
		}
	}
}

func versionsDeleted(m *model) []finding {
	var list []finding
	m.published(func(f *resource, _ map[string]bool) {
		policy := cfn.Member(f.body, "UpdateReplacePolicy")
		if policy == nil || policy.Value != "Retain" {
			x := found(f, f.at("AutoPublishAlias"), "%s has an alias and parameters in its environment", f.id)
			x = x.writing("UpdateReplacePolicy: Retain").fixedBy(set(f.body, "UpdateReplacePolicy", "Retain"))
			if cfn.Member(f.body, "DeletionPolicy") == nil { // cfn-lint wants both
				x = x.fixedBy(set(f.body, "DeletionPolicy", "Delete"))
			}
			list = append(list, x)
		}
	})
	return list
}

func valuesNotPublished(m *model) []finding {
	var list []finding
	m.published(func(f *resource, environment map[string]bool) {
		described := m.parametersIn(cfn.Member(f.props.node, "VersionDescription"))
		if len(described) == 0 {
			list = append(list, found(f, f.at("AutoPublishAlias"), "%s has an alias and parameters in its environment, and no "+
				"VersionDescription with them", f.id))
		}
	})
	return list
}

func durable(m *model) []finding {
	const most = 900
	var list []finding
	for _, c := range m.consumers {
		if c.function == nil || c.function.props.get("DurableConfig").absent() {
			continue
		}
		limit := most
		if !c.function.props.get("CapacityProviderConfig").absent() {
			limit = 5400
		}
		execution := c.function.props.get("DurableConfig").get("ExecutionTimeout").number(0)
		switch {
		case c.qualified == no:
			list = append(list, found(c.owner, c.key, "%s invokes %s without a version or an alias", c.name(), c.function.id))
		case execution.known && execution.n > limit:
			x := found(c.function, execution.node, "the ExecutionTimeout of %s is %s; its mapping waits for %s at most",
				c.function.id, minutes(execution.n), minutes(limit)).writing("DurableConfig: {ExecutionTimeout: %d}", limit)
			list = append(list, x.fixedBy(replace(execution.node, digits(limit))))
		}
	}
	return list
}
