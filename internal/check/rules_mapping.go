package check

import (
	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// mappingRules are about event source mappings.
func mappingRules() []Rule {
	return []Rule{
		{
			ID: "E01", Title: "an SQS event without ReportBatchItemFailures, for a function that reports failures",
			Why:    "Lambda ignores the list of failed messages and deletes all of the batch, so each failed job is lost.",
			Write:  "FunctionResponseTypes: [ReportBatchItemFailures]",
			Source: pageErrors, Sqsafe: true,
			find: func(m *model) []finding { return unreported(m, true) },
		},
		{
			ID: "W01", Title: "an SQS event with batches and without ReportBatchItemFailures",
			Why: "One failed message brings back its whole batch: what was done is done again, and the others come closer " +
				"to the dead-letter queue; if the function reports failures, they are ignored and the messages deleted.",
			Write:  "FunctionResponseTypes: [ReportBatchItemFailures] # and a function that returns batchItemFailures",
			Source: pageErrors,
			find:   func(m *model) []finding { return unreported(m, false) },
		},
		{
			ID: "E14", Title: "MaximumConcurrency outside 2 to 1000",
			Why:   "Lambda refuses the event source mapping, and the deployment fails.",
			Write: "ScalingConfig: {MaximumConcurrency: 5}", Source: pageScaling,
			find: concurrencyOutside,
		},
		{
			ID: "E16", Title: "a batch size that the queue does not allow",
			Why:   "Lambda refuses the event source mapping, and the deployment fails.",
			Write: "MaximumBatchingWindowInSeconds: 1", Source: pageParameters,
			find: batchRefused,
		},
		{
			ID: "E17", Title: "FilterCriteria on the queue of a function that must run each job",
			Why:    "Lambda deletes each message that does not match: it is not run, and it is in no dead-letter queue.",
			Write:  "# remove FilterCriteria; let the function decide",
			Source: pageFilters, Sqsafe: true,
			find: func(m *model) []finding { return filtered(m, true) },
		},
		{
			ID: "W17", Title: "FilterCriteria on an SQS event",
			Why:    "Lambda deletes each message that does not match: it is not run, and it is in no dead-letter queue.",
			Write:  "# remove FilterCriteria, or ignore this rule with the reason",
			Source: pageFilters,
			find:   func(m *model) []finding { return filtered(m, false) },
		},
		{
			ID: "E22", Title: "two functions on one queue, or a function on the dead-letter queue that it fills",
			Why: "Each message goes to only one of two functions, by chance; a function on its own dead-letter queue runs " +
				"what it has given up for ever.",
			Write:  "# one queue for each function, as with one SNS topic for several queues",
			Source: pageDead,
			find:   sharedQueues,
		},
		{
			ID: "W23", Title: "a disabled event source mapping",
			Why:   "Jobs wait until the queue deletes them after MessageRetentionPeriod, without a dead letter.",
			Write: "Enabled: true", Source: pageParameters,
			find: disabled,
		},
		{
			ID: "E32", Title: "provisioned pollers outside 2 to 10,000, or beside MaximumConcurrency",
			Why:    "Lambda refuses the event source mapping, and the deployment fails.",
			Write:  "ProvisionedPollerConfig: {MinimumPollers: 2, MaximumPollers: 10}",
			Source: "https://docs.aws.amazon.com/lambda/latest/api/API_ProvisionedPollerConfig.html",
			find:   pollersOutside,
		},
	}
}

func unreported(m *model, sqsafe bool) []finding {
	var list []finding
	for _, c := range m.consumers {
		if usesSqsafe(c.function) != sqsafe || c.reports() != no {
			continue
		}
		if batch := c.batch(); !sqsafe && (!batch.known || batch.n == 1) {
			continue
		}
		f := found(c.owner, c.at("FunctionResponseTypes"), "%s has no ReportBatchItemFailures", c.name())
		if sqsafe { // another function has to return the list first
			f = f.fixedBy(set(c.ownProps(), "FunctionResponseTypes", flow("ReportBatchItemFailures")))
		}
		list = append(list, f)
	}
	return list
}

// ownProps returns the node of the mapping's properties in the text, for edits.
func (c *consumer) ownProps() *yaml.Node {
	if c.owner.kind == typeMapping {
		return c.owner.own()
	}
	event := cfn.Member(cfn.Member(c.owner.own(), "Events"), c.key.Value)
	return cfn.Member(event, "Properties")
}

func concurrencyOutside(m *model) []finding {
	var list []finding
	for _, c := range m.consumers {
		limit := c.concurrency()
		if limit.node == nil || !limit.known || limit.n >= 2 && limit.n <= 1000 {
			continue
		}
		fixed := min(max(limit.n, 2), 1000)
		f := found(c.owner, limit.node, "MaximumConcurrency of %s is %d", c.name(), limit.n).
			writing("ScalingConfig: {MaximumConcurrency: %d}", fixed)
		list = append(list, f.fixedBy(replace(limit.node, digits(fixed))))
	}
	return list
}

func batchRefused(m *model) []finding {
	var list []finding
	for _, c := range m.consumers {
		batch, window := c.batch(), c.window()
		if !batch.known || !window.known {
			continue
		}
		switch {
		case batch.n > 10000:
			f := found(c.owner, batch.node, "BatchSize of %s is %d; the most is 10000", c.name(), batch.n).
				writing("BatchSize: 10000")
			list = append(list, f.fixedBy(replace(batch.node, "10000")))
		case c.fifo == yes && batch.n > 10:
			f := found(c.owner, batch.node, "BatchSize of %s is %d; a FIFO queue allows 10", c.name(), batch.n).
				writing("BatchSize: 10")
			list = append(list, f.fixedBy(replace(batch.node, "10")))
		case c.fifo == yes && window.n > 0:
			f := found(c.owner, c.at("MaximumBatchingWindowInSeconds"), "%s has a batching window; a FIFO queue allows none",
				c.name()).writing("# remove MaximumBatchingWindowInSeconds")
			list = append(list, f.fixedBy(replace(window.node, "0")))
		case c.fifo == no && batch.n > 10 && window.n == 0:
			f := found(c.owner, batch.node, "BatchSize of %s is %d; above 10 Lambda asks for a batching window of at least 1 s",
				c.name(), batch.n)
			list = append(list, f.fixedBy(set(c.ownProps(), "MaximumBatchingWindowInSeconds", "1")))
		}
	}
	return list
}

func filtered(m *model, sqsafe bool) []finding {
	var list []finding
	for _, c := range m.consumers {
		filters, _ := c.props.get("FilterCriteria").get("Filters").items()
		if usesSqsafe(c.function) == sqsafe && len(filters) > 0 {
			list = append(list, found(c.owner, c.at("FilterCriteria"), "%s has FilterCriteria", c.name()))
		}
	}
	return list
}

func sharedQueues(m *model) []finding {
	var list []finding
	for i, c := range m.consumers {
		if c.queue == nil || c.function == nil || c.exists != yes || c.enabled() != yes {
			continue
		}
		for _, other := range m.consumers[:i] {
			if other.queue == c.queue && other.function != nil && other.function != c.function &&
				other.exists == yes && other.enabled() == yes {
				list = append(list, found(c.owner, c.key, "%s is on %s, as %s is", c.name(), c.queue.id, other.name()))
				break
			}
		}
		for _, source := range m.sources(c.queue) {
			for _, other := range m.consumersOf(source) {
				if other.function == c.function && source != c.queue {
					f := found(c.owner, c.key, "%s is on %s, the dead-letter queue of %s, which %s works on as well",
						c.name(), c.queue.id, source.id, c.function.id)
					list = append(list, f.writing("# remove the event on %s; send dead letters back by hand", c.queue.id))
				}
			}
		}
	}
	return list
}

func disabled(m *model) []finding {
	var list []finding
	for _, c := range m.consumers {
		if c.enabled() == no {
			list = append(list, found(c.owner, c.at("Enabled"), "%s is disabled", c.name()))
		}
	}
	return list
}

func pollersOutside(m *model) []finding {
	const most = 10000
	var list []finding
	for _, c := range m.consumers {
		config := c.props.get("ProvisionedPollerConfig")
		if config.kind != kindMapping {
			continue
		}
		least, limit := config.get("MinimumPollers").number(2), config.get("MaximumPollers").number(200)
		at := c.at("ProvisionedPollerConfig")
		switch {
		case least.known && (least.n < 2 || least.n > most):
			list = append(list, found(c.owner, at, "MinimumPollers of %s is %d", c.name(), least.n))
		case limit.known && (limit.n < 2 || limit.n > most):
			list = append(list, found(c.owner, at, "MaximumPollers of %s is %d", c.name(), limit.n))
		case least.known && limit.known && least.n > limit.n:
			list = append(list, found(c.owner, at, "MinimumPollers of %s is %d, its MaximumPollers %d",
				c.name(), least.n, limit.n))
		case c.concurrency().node != nil:
			f := found(c.owner, at, "%s has provisioned pollers and MaximumConcurrency, which exclude each other", c.name())
			list = append(list, f.writing("# remove ScalingConfig or ProvisionedPollerConfig"))
		}
	}
	return list
}
