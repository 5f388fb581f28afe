package archtest

import "slices"

// Rows is the import table, from the leaves up.
func Rows() []Row {
	return slices.Concat(
		leafRows(), engineRows(), adapterRows(), producerRows(), hostRows(), functionRows(),
		emulatorRows(), templateRows(), commandRows(), checkRows(), benchRows(),
	)
}

// emulatorRows are the emulators for AWS.
func emulatorRows() []Row {
	const protocol = "internal/localaws/protocol"
	const attribute = "internal/localaws/dynamodb/attribute"
	const expression = "internal/localaws/dynamodb/expression"
	const keyspace = "internal/localaws/dynamodb/keyspace"
	const shape = "internal/localaws/dynamodb/shape"
	return []Row{
		{Path: protocol, Never: []string{anyOurs, anyThird}},
		{Path: "internal/localaws/cbor", Ours: []string{protocol}, Never: []string{anyThird}},
		{
			Path: "internal/localaws/cloudwatch", Ours: []string{"internal/metricmath", protocol},
			Never: []string{anyThird},
		},
		{Path: attribute, Ours: []string{protocol}, Never: []string{anyThird}},
		{Path: expression, Ours: []string{attribute}, Never: []string{anyThird}},
		{
			Path: keyspace, Ours: []string{attribute}, Third: []string{orderedMap},
			Never: append(noSDK(), "internal/localaws/sqs", "internal/localaws/cloudwatch"),
		},
		{Path: shape, Ours: []string{protocol, attribute}, Never: []string{anyThird}},
		{
			Path: "internal/localaws/dynamodb", Ours: []string{protocol, attribute, expression, keyspace, shape},
			Never: noSDK(),
		},
		{Path: "internal/localaws/kms", Ours: []string{protocol}, Never: []string{anyThird}},
		{Path: "internal/localaws/sqs", Ours: []string{protocol}, Never: []string{anyThird}},
		{Path: "internal/localaws/sts", Never: []string{anyThird}},
		{
			Path: "internal/localaws",
			Ours: []string{
				protocol, "internal/localaws/cbor", "internal/localaws/cloudwatch", "internal/localaws/dynamodb",
				"internal/localaws/kms", "internal/localaws/sqs", "internal/localaws/sts",
			},
			Never: noSDK(),
		},
		{Path: "internal/localaws/localtest", Ours: []string{"internal/localaws"}, Third: []string{sdkCore, sdkKeys}},
		{Path: "internal/localguard", Third: []string{netListeners}},
		{Path: "internal/localguard/guardtest", Never: []string{anyOurs, anyThird}},
		{
			Path:  "awstest",
			Ours:  []string{"internal/localaws", "internal/localaws/localtest", "internal/localguard"},
			Third: []string{sdkCore}, Testing: true,
		},
	}
}

// templateRows read, check and write templates, and know their alarms.
func templateRows() []Row {
	return []Row{
		{
			Path: "internal/alarm", Ours: []string{"internal/metricmath"}, Never: []string{anyThird},
			Tests: []string{"internal/alarm/sqsmetrics", "internal/alarmset", "internal/stack"},
		},
		{
			Path: "internal/alarmset", Ours: []string{"internal/alarm"}, Never: []string{anyThird},
		},
		{
			Path: "internal/stackedit", Ours: []string{"internal/alarmset"}, Third: []string{yaml},
			Tests: []string{"internal/alarm", "internal/stack"},
		},
		{Path: "internal/alarm/sqsmetrics", Ours: []string{"internal/alarm"}, Never: []string{anyThird}},
		{Path: "internal/cfn", Third: []string{yaml}, Never: []string{anyOurs}},
		{
			Path: "internal/stack", Ours: []string{"internal/eventsource/filter", "internal/alarm", "internal/cfn"},
			Third: []string{yaml}, Tests: []string{"internal/alarmset", "internal/stackedit"},
		},
		{Path: "internal/check", Ours: []string{"internal/cfn"}, Third: []string{yaml}},
		{
			Path: "internal/live", Ours: []string{"internal/check"},
			Third: []string{
				sdkCore, sdkFormation, formationTypes, sdkLambda, lambdaTypes, sdkSQS, sqsTypes, sdkCloudWatch, cloudTypes,
				sdkSNS, sdkDynamoDB, dynamoDBTypes,
			},
			Tests: []string{"internal/endpoint"},
		},
		{Path: "internal/scaffold", Never: []string{anyOurs, anyThird}, Tests: []string{"internal/check"}},
	}
}

// commandRows are the commands, and what only they use.
func commandRows() []Row {
	return []Row{
		{Path: "internal/runtimeapi", Ours: []string{"internal/localguard"}},
		{
			Path: "internal/deadletters/letterstest",
			Ours: []string{
				"backoff", "fault", "handler", "idem", "idem/dynamo", "queue", "dlq", "internal/localaws",
				"internal/localaws/localtest",
			},
			Third: []string{lambdaEvents, sdkCore, sdkSQS, sqsTypes, sdkDynamoDB, dynamoDBTypes},
		},
		{
			Path: "internal/deadletters", Ours: []string{"handler", "internal/ledger", "internal/sqscall", "queue", "dlq"},
			Third: []string{sdkCore, sdkSQS, sqsTypes}, Tests: []string{"fault", "idem"},
		},
		{
			Path:  "internal/deadletters/replay",
			Ours:  []string{"idem", "internal/ledger", "internal/sqscall", "queue", "internal/deadletters"},
			Third: []string{sdkCore, sdkRetry, sdkSQS, sqsTypes, smithy},
		},
		{
			Path:  "internal/deadletters/archive",
			Ours:  []string{"internal/sqscall", "dlq", "internal/deadletters", "internal/deadletters/replay"},
			Third: []string{sdkCore, sqsTypes}, Tests: []string{"handler", "internal/ledger"},
		},
		{
			Path: "internal/dlqui",
			Ours: []string{
				"dlq", "internal/ledger", "internal/deadletters", "internal/deadletters/replay", "internal/deadletters/archive",
				"internal/localguard",
			},
			Third: []string{sdkCore, unifiedDiff},
		},
		{
			Path: "internal/endpoint", Ours: []string{"internal/redact", "internal/wholebody"},
			Third: []string{sdkCore, sdkRetry, sdkKeys, smithy},
		},
		{
			Path: "internal/local",
			Ours: []string{
				"fault", "handler", "idem", "metrics", "dlq", "internal/eventsource", "internal/localaws",
				"internal/localreport", "internal/ledger", "internal/localaws/sqs", "internal/localguard",
				"internal/runtimeapi", "internal/stack", "internal/jobfile", "internal/endpoint", "internal/redact",
			},
			Third: []string{sdkCore, sdkSQS, sqsTypes, sdkDynamoDB, dynamoDBTypes},
		},
		{
			Path: "internal/cli",
			Ours: []string{
				"internal/wholebody", "fault", "handler", "queue", "dlq", "internal/sqssend", "internal/jobfile", "internal/ledger",
				"jobs", "internal/deadletters",
				"internal/deadletters/replay", "internal/deadletters/archive", "internal/localguard", "internal/dlqui",
				"internal/endpoint", "internal/redact", "internal/check", "internal/live", "internal/scaffold", "internal/local",
				"internal/alarmset", "internal/stackedit",
			},
			Third: []string{
				kong, lipgloss, lipglossTable, terminal, terminalCodes, terminalSize,
				sdkCore, sdkConfig, sdkSQS, sqsTypes, sdkDynamoDB, dynamoDBTypes, sdkFormation, sdkLambda,
				lambdaTypes, sdkLogs, logsTypes, sdkCloudWatch, cloudTypes, unifiedDiff, smithy,
			},
			Never: []string{"internal/demo/..."}, Tests: []string{"idem", "idem/dynamo"}, Host: true,
		},
		{Path: "internal/demo/provider", Never: []string{anyOurs, anyThird}},
		{
			Path: "internal/demo", Ours: []string{"internal/local", "internal/cli", "internal/demo/provider"},
			Third: []string{sdkCore, sdkDynamoDB, dynamoDBTypes}, Host: true,
		},
		{Path: "cmd/sqsafe", Ours: []string{"internal/cli"}, Never: []string{"internal/demo/..."}, Host: true},
		{Path: "cmd/demo", Ours: []string{"internal/cli", "internal/demo"}, Host: true},
	}
}

// checkRows hold tests of the whole, and what these run.
func checkRows() []Row {
	return []Row{
		{Path: "internal/archtest", Never: []string{anyOurs, anyThird}},
		{Path: "internal/coverage", Never: []string{anyOurs, anyThird}, Host: true},
		{
			Path: "internal/compatibility",
			Tests: []string{
				"fault", "handler", "idem", "internal/deadletters", "internal/deadletters/archive",
				"internal/deadletters/letterstest", "internal/deadletters/replay", "internal/ledger",
			},
		},
		{Path: "internal/apiguard", Tests: []string{"internal/archtest"}},
		{Path: "internal/licences", Third: []string{licensecheck}, Host: true},
		{Path: "internal/release", Third: []string{yaml}},
		{Path: "internal/systems", Never: []string{anyOurs, anyThird}, Host: true},
		{Path: "internal/release/images", Never: []string{anyOurs, anyThird}, Host: true},
		{Path: "internal/mutants", Third: []string{yaml}, Host: true},
		{Path: "internal/clients"},
		{Path: "internal/conformance"},
		{Path: "internal/crashproof/function", Ours: []string{"handler", "idem", "."}, Host: true},
		{
			Path:  "internal/crashproof",
			Tests: []string{"dlq", "fault", "handler", "internal/eventsource", "internal/runtimeapi"},
		},
		{Path: "internal/chaos/job", Ours: []string{"fault", "idem", ".", "worker"}, Host: true},
		{
			Path: "internal/chaos",
			Ours: []string{
				"fault", "idem", "dlq", "internal/localaws/sqs", "internal/localaws", "internal/localaws/localtest",
				"internal/local", "internal/cli",
			},
			Third: []string{sdkCore, sdkSQS, sqsTypes, sdkDynamoDB, dynamoDBTypes, terminalSize},
			Host:  true,
		},
		{
			Path: "internal/simulation/system",
			Tests: []string{
				"backoff", "fault", "internal/deadline", "internal/host", "handler", "idem", "idem/dynamo", "queue", "dlq",
				"worker", "internal/eventsource", "internal/simulation",
			},
		},
		{
			Path: "internal/runbook",
			Tests: []string{
				"internal/alarmset", "internal/cli", "backoff", "dlq", "fault", "handler", "idem", "idem/dynamo", "queue",
			},
		},
		{
			Path:  "internal/samtest",
			Tests: []string{"internal/demo/provider", "internal/runtimeapi", "internal/scaffold", "internal/stack"},
		},
		{
			Path: "internal/powertools",
			Tests: []string{
				"idem", "idem/dynamo", "dlq", "internal/deadletters", "internal/deadletters/replay", "internal/endpoint",
			},
		},
		{
			Path: "internal/parity/function", Ours: []string{"fault", "idem", ".", "worker"},
			Third: []string{lambdaEvents, lambdaRuntime}, Host: true,
		},
		{
			Path:  "internal/parity",
			Tests: []string{"dlq", "handler", "internal/eventsource", "internal/local", "internal/runtimeapi", "internal/stack"},
		},
	}
}

// benchRows compare the engine with a bare function.
func benchRows() []Row {
	const job = "internal/bench/job"
	return []Row{
		{Path: job, Never: []string{anyOurs, anyThird}},
		{
			Path: "internal/bench/bare", Ours: []string{job}, Third: []string{lambdaEvents, lambdaRuntime},
			Never: append(noSDK(), "handler", "idem"),
		},
		{
			Path: "internal/bench/ours", Ours: []string{"handler", job}, Third: []string{lambdaRuntime},
			Never: append(noSDK(), "idem"),
		},
		{
			Path: "internal/bench/ledger", Ours: []string{"handler", "idem", job}, Third: []string{lambdaRuntime},
			Never: noSDK(),
		},
		{
			Path: "internal/bench/byhand", Ours: []string{job}, Third: []string{
				lambdaEvents, lambdaRuntime, sdkCore, sdkKeys, sdkDynamoDB, dynamoDBTypes,
			},
			Never: []string{"handler", "idem"}, Host: true,
		},
		{
			Path: "internal/bench/start", Ours: []string{".", "fault", "metrics", job},
			Third: []string{lambdaRuntime, sdkCore, sdkKeys}, Host: true,
		},
		{Path: "internal/tally"},
		{Path: "internal/costs", Never: []string{anyOurs, anyThird}},
		{
			Path: "internal/bench", Ours: []string{"internal/localaws", "internal/runtimeapi", "internal/tally"},
			Third: []string{lambdaEvents, sdkCore, sdkKeys, sdkDynamoDB, dynamoDBTypes, sdkSQS},
			Tests: []string{".", "handler", job}, Host: true,
		},
	}
}
