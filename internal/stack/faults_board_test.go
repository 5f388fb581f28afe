package stack

// boardFlaws are faults in the dashboard and in the outputs of the stack.
var boardFlaws = []flaw{
	// Dashboard, outputs, parameters.
	{"a dashboard that is not JSON", `{"start": "-PT3H", `, `{"start": "-PT3H" `, "the dashboard is not JSON"},
	{
		"a dashboard of another metric",
		`["AWS/SQS", "NumberOfMessagesSent", "QueueName", "${ChargeQueue.QueueName}"`,
		`["AWS/SQS", "NumberOfMessageSent", "QueueName", "${ChargeQueue.QueueName}"`,
		"which is none of its",
	},
	{
		"a metric of ours misspelt", `"${MetricsNamespace}", "Duplicate"`, `"${MetricsNamespace}", "Duplicates"`,
		"Duplicates",
	},
	{"a dashboard without payloads", "excerpt, ", "", "the fields of newest dead letters"},
	{
		"a dashboard that leaves out a log", "SOURCE '${StockLogGroup}'", "SOURCE '${ChargeLogGroup}'",
		"the log of StockFunction",
	},
	{
		"a dashboard that leaves out an alarm", "                \"${NotifyQueueAgeAlarm.Arn}\",\n", "",
		"alarm NotifyQueueAgeAlarm",
	},
	{
		"a redrive without a destination", "      --destination-arn ${ChargeQueue.Arn} --max", "      --max",
		"no output has",
	},
	{
		"a queue URL that is not put out", "    Value: !Ref NotifyQueue\n",
		"    Value: !Ref NotifyDeadLetterQueue\n", "no output has",
	},
	{
		"a parameter without a range", "    AllowedValues: [exponential, stepped]\n", "",
		"parameter Backoff lacks a range",
	},
	{"a parameter that nothing reads", "        SQSAFE_JITTER: !Ref Jitter\n", "", "SQSAFE_JITTER is"},
	{"an attribute of nothing", "!GetAtt ChargeLogGroup.Arn", "!GetAtt ChargeLogs.Arn", "ChargeLogs"},
	{
		"an expression that is none", `"expression": "v1 + FILL(n1,0)"`, `"expression": "v1 + FILL(n1,0"`,
		"which is none of its",
	},
	{
		"the level in the place of growth", `"expression": "DIFF(v1 + FILL(n1,0))"`,
		`"expression": "v1 + FILL(n1,0)"`, "which is none of its",
	},
	{"an expression over another queue", `"expression": "v2 + FILL(n2,0)"`, `"expression": "v1 + FILL(n1,0)"`, "lacks"},
	{
		"a sum of a depth", `"title": "Dead letters: how many", "view": "timeSeries", "stat": "Maximum"`,
		`"title": "Dead letters: how many", "view": "timeSeries", "stat": "Sum"`, "which is none of its",
	},
	{
		"a sum of an age", `"title": "Age of the oldest job, in seconds", "view": "timeSeries", "stat": "Maximum"`,
		`"title": "Age of the oldest job, in seconds", "view": "timeSeries", "stat": "Sum"`, "which is none of its",
	},
	{
		"a statistic that there is not", `"title": "Outcomes of charge", "view": "timeSeries", "stat": "Sum"`,
		`"title": "Outcomes of charge", "view": "timeSeries", "stat": "Sums"`,
		"Done ChargeFunction Sums, which is none of its",
	},
	{
		"a label of another queue", `"expression": "v1 + FILL(n1,0)", "label": "charges"`,
		`"expression": "v1 + FILL(n1,0)", "label": "withdrawals"`, `"withdrawals" on the dashboard is`,
	},
	{
		"a title of another function", `"title": "Outcomes of charge"`, `"title": "Outcomes of stock"`,
		`"stock" on the dashboard is`,
	},
	{
		"queues swapped in the table", "| charges | ${ChargeDeadLetterQueue} | ${ChargeQueue}",
		"| charges | ${ChargeQueue} | ${ChargeDeadLetterQueue}",
		"the dashboard's table lacks the queues of ChargeFunction",
	},
	{
		"a field that no line has", "reason, class, rule, attempt, key", "reason, class, rule, attempts, key",
		"the fields of newest dead letters",
	},
	{
		"groups of a field that no line has", "by queue,\n            reason, class",
		"by queue,\n            reason, kind", "a query of its own",
	},
	{
		"a filter that nothing passes", "            message = 'dead-lettered' | stats",
		"            msg = 'dead-lettered' | stats", "a query of its own",
	},
	{
		"a filter of another message", "            message = 'dead-lettered' | sort",
		"            message = 'deadlettered' | sort", "a query of its own",
	},
	{
		"a period of an hour", `"stat": "Maximum", "period": 60,`, `"stat": "Maximum", "period": 3600,`,
		"has a period of 3600 s",
	},
	{"a mark where no alarm fires", `"value": ${QueueAgeThreshold}}`, `"value": 1}`, "the mark of Age of the oldest job"},
	{
		"an outcome left out",
		"                [\"${MetricsNamespace}\", \"Crash\", \"FunctionName\", \"${StockFunction}\"]\n",
		"                [\"${MetricsNamespace}\", \"Dead\", \"FunctionName\", \"${StockFunction}\"]\n",
		`widget "Outcomes of " of the dashboard lacks`,
	},
}
