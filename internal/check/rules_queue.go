package check

// queueRules are about source queues.
func queueRules() []Rule {
	return []Rule{
		{
			ID: "E02", Title: "a visibility timeout below the function's timeout",
			Why: "Lambda refuses the event source mapping; where it is there already, jobs come back and run twice " +
				"while they run.",
			Write: "VisibilityTimeout: 180", Source: pageConfigure,
			find: func(m *model) []finding { return visibilityTooShort(m, true) },
		},
		{
			ID: "W03", Title: "a visibility timeout below six times the function's timeout plus the batching window",
			Why: "When Lambda throttles the function, messages come back while their batch is still retried: they run " +
				"twice, and use up receives.",
			Write: "VisibilityTimeout: 180", Source: pageConfigure,
			find: func(m *model) []finding { return visibilityTooShort(m, false) },
		},
		{
			ID: "E04", Title: "a source queue without a dead-letter queue",
			Why: "A job that always fails comes back until MessageRetentionPeriod is over, takes the place of others, and " +
				"is deleted then without a trace.",
			Write:  "RedrivePolicy: {deadLetterTargetArn: !GetAtt DeadLetterQueue.Arn, maxReceiveCount: 5}",
			Source: pageDead,
			find:   withoutRedrive,
		},
		{
			ID: "E24", Title: "a retention that is shorter than the retries",
			Why:    "SQS deletes a job that fails before it is dead-lettered, without a trace.",
			Write:  "MessageRetentionPeriod: 345600",
			Source: pageDead,
			find:   retentionTooShort,
		},
		{
			ID: "W29", Title: "a FIFO queue with the maxReceiveCount of a standard queue",
			Why: "Messages are received with each failure of those before them in their group, so SQS buries jobs that " +
				"never ran, without a record.",
			Write: "maxReceiveCount: 200", Source: pageErrors, Sqsafe: true,
			find: fifoReceives,
		},
		{
			ID: "E35", Title: "a FIFO queue with a standard dead-letter queue, or the reverse",
			Why:   "SQS refuses the redrive policy, and the deployment fails.",
			Write: "FifoQueue: true", Source: pageDead,
			find: otherType,
		},
		{
			ID: "E38", Title: "the URL or the name of a queue where AWS wants its ARN",
			Why:   "Lambda refuses the mapping, or SQS the redrive policy, and the deployment fails.",
			Write: "Queue: !GetAtt QUEUE.Arn", Source: formationGuide + "aws-resource-sqs-queue.html",
			find: notAnARN,
		},
	}
}

// notAnARN finds queues that a mapping or a redrive policy names by something else
// than their ARN. Ref of a queue is its URL.
func notAnARN(m *model) []finding {
	var list []finding
	look := func(r *resource, property string, v value) {
		id, attribute, ok := v.reference()
		if q := m.byID[id]; !ok || q == nil || q.kind != typeQueue || attribute == "Arn" {
			return
		}
		what := "URL"
		if attribute == "QueueName" {
			what = "name"
		}
		list = append(list, found(r, v.node, "%s of %s is the %s of %s", property, r.id, what, id).
			writing("%s: !GetAtt %s.Arn", property, id))
	}
	for _, c := range m.consumers {
		property := "Queue"
		if c.owner.kind == typeMapping {
			property = "EventSourceArn"
		}
		look(c.owner, property, c.props.get(property))
	}
	for _, q := range m.of(typeQueue) {
		policy, _, _ := m.redrive(q)
		look(q, "deadLetterTargetArn", policy.get("deadLetterTargetArn"))
	}
	return list
}

func visibilityTooShort(m *model, refused bool) []finding {
	var list []finding
	seen := map[*resource]bool{}
	for _, c := range m.consumers {
		if c.queue == nil || c.function == nil || seen[c.queue] {
			continue
		}
		v, t, window := visibility(c.queue), timeout(c.function), c.window()
		if !v.known || !t.known || !window.known || (v.n < t.n) != refused {
			continue
		}
		want := 6*t.n + window.n
		if v.n >= want {
			continue
		}
		seen[c.queue] = true
		limit := "six times that and the batching window are"
		if window.n == 0 {
			limit = "six times that is"
		}
		f := found(c.queue, c.queue.at("VisibilityTimeout"),
			"the visibility timeout of %s is %d s, the Timeout of %s %d s; %s %d s",
			c.queue.id, v.n, c.function.id, t.n, limit, want)
		if want <= 43200 {
			f = f.writing("VisibilityTimeout: %d", want).
				fixedBy(set(c.queue.own(), "VisibilityTimeout", digits(want)))
		}
		list = append(list, f)
	}
	return list
}

func withoutRedrive(m *model) []finding {
	var list []finding
	seen := map[*resource]bool{}
	for _, c := range m.consumers {
		if c.queue == nil || seen[c.queue] || len(m.sources(c.queue)) > 0 || c.enabled() == no {
			continue
		}
		seen[c.queue] = true
		if policy, _, _ := m.redrive(c.queue); policy.absent() && !m.mayBeDead(c.queue) {
			list = append(list, found(c.queue, c.queue.at("RedrivePolicy"), "%s, the queue of %s, has no RedrivePolicy",
				c.queue.id, c.name()))
		}
	}
	return list
}

// mayBeDead reports whether something of the template other than a mapping may
// use a queue as its dead-letter queue: a queue that is not known, a function, a
// rule, a subscription.
func (m *model) mayBeDead(q *resource) bool {
	for _, r := range m.all {
		if r == q || r.is(typeRole, typePolicy, typeQueuePolicy, typeAlarm) {
			continue
		}
		for _, member := range []string{
			"DeadLetterConfig", "DeadLetterQueue", "RedrivePolicy", "EventInvokeConfig", "DestinationConfig",
			"DeadLetterQueueArn",
		} {
			if mentions(under(r.body, member), q.id) {
				return true
			}
		}
	}
	return false
}

func retentionTooShort(m *model) []finding {
	var list []finding
	seen := map[*resource]bool{}
	for _, c := range m.consumers {
		if c.queue == nil || c.function == nil || seen[c.queue] {
			continue
		}
		keep, hidden := retention(c.queue), visibility(c.queue)
		_, _, receives := m.redrive(c.queue)
		if !keep.known || !hidden.known {
			continue
		}
		var longest int
		var because string
		switch {
		case usesSqsafe(c.function):
			b := budgetOf(c.function)
			if !b.known {
				continue
			}
			// A process that dies leaves its jobs hidden for the whole timeout; sqsafe
			// needs four such deaths to tell who is to blame.
			longest = b.schedule + 4*hidden.n
			because = "all attempts with their waits, and four crashes,"
		case receives.known:
			longest = receives.n * hidden.n
			because = "maxReceiveCount times the visibility timeout"
		default:
			continue
		}
		if keep.n > longest {
			continue
		}
		seen[c.queue] = true
		f := found(c.queue, c.queue.at("MessageRetentionPeriod"), "%s keeps messages for %s; %s take up to %s",
			c.queue.id, minutes(keep.n), because, minutes(longest))
		if longest < defaultRetention {
			f = f.fixedBy(set(c.queue.own(), "MessageRetentionPeriod", digits(defaultRetention)))
		} else {
			f = f.writing("MessageRetentionPeriod: %d # or a lower maxReceiveCount", mostRetention)
		}
		list = append(list, f)
	}
	return list
}

// fifoReceives finds FIFO queues on which the tail of a batch can use up its
// receives behind heads that use up their attempts.
func fifoReceives(m *model) []finding {
	var list []finding
	seen := map[*resource]bool{}
	for _, c := range m.consumers {
		if c.queue == nil || !usesSqsafe(c.function) || c.fifo != yes || seen[c.queue] {
			continue
		}
		policy, target, receives := m.redrive(c.queue)
		b, batch := budgetOf(c.function), c.batch()
		if !receives.known || !b.known || !batch.known || target != nil && fifo(target) == no {
			continue
		}
		if receives.n <= b.attempts || receives.n >= b.attempts*batch.n {
			continue // E05, or enough
		}
		seen[c.queue] = true
		want := max(200, b.attempts*batch.n)
		f := found(c.queue, receives.node, "maxReceiveCount of %s is %d; the last of a batch of %d is received up "+
			"to %d times behind others with %d attempts each", c.queue.id, receives.n, batch.n, b.attempts*batch.n, b.attempts).
			writing("maxReceiveCount: %d # and SQSAFE_MAX_RECEIVES", want)
		list = append(list, f.fixedBy(receive(c, policy, want)...))
	}
	return list
}

func otherType(m *model) []finding {
	var list []finding
	for _, q := range m.of(typeQueue) {
		policy, target, _ := m.redrive(q)
		if target == nil || fifo(q) == maybe || fifo(target) == maybe || fifo(q) == fifo(target) {
			continue
		}
		wrong := target
		if fifo(q) == no {
			wrong = q
		}
		kinds := map[truth]string{yes: "a FIFO queue", no: "a standard queue"}
		f := found(q, keyOf(policy.node, "deadLetterTargetArn"), "%s is %s, its dead-letter queue %s is %s",
			q.id, kinds[fifo(q)], target.id, kinds[fifo(target)])
		list = append(list, f.writing("FifoQueue: true # in %s, with a QueueName that ends in .fifo if it has one", wrong.id))
	}
	return list
}
