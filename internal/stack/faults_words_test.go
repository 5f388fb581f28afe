package stack

// wordsFlaws are faults in descriptions, outputs and parameters.
var wordsFlaws = []flaw{
	{
		"a topic of any form", `AllowedPattern: "^(arn:[^:]+:sns:[^:]+:[0-9]{12}:.+)?$"`, `AllowedPattern: ".*"`,
		"parameter AlarmTopicArn takes",
	},
	{
		"minutes that a canary does not take", "MinValue: 5, MaxValue: 120",
		"MinValue: 1, MaxValue: 120", "parameter StalledMinutes takes",
	},
	{"a timeout that Lambda refuses", "MaxValue: 5400,", "MaxValue: 9000,", "parameter FunctionTimeout takes"},
	{
		"a level that drops metrics", "AllowedValues: [DEBUG, INFO]", "AllowedValues: [DEBUG, INFO, WARN]",
		"parameter LogLevel takes",
	},
	{"debugging from the start", "Default: INFO", "Default: DEBUG", "default of LogLevel is DEBUG"},
	{
		"all at once from the start", "Default: Linear10PercentEvery1Minute", "Default: AllAtOnce",
		"default of DeploymentType is AllAtOnce",
	},
	{
		"logs of a day", "Default: 30, Description: Days", "Default: 1, Description: Days",
		"default of LogRetentionDays is 1",
	},
	{
		"a log retention that there is not", "AllowedValues: [1, 3,", "AllowedValues: [1, 2, 3,",
		"parameter LogRetentionDays takes",
	},
	{
		"a flood too late", "Default: 10, MinValue: 1, MaxValue: 1000000",
		"Default: 100000, MinValue: 1, MaxValue: 1000000", "default of FloodThreshold",
	},
	{
		"a name that SQS refuses", `AllowedPattern: "^[A-Za-z0-9_-]{1,80}$"`, `AllowedPattern: "^[A-Za-z0-9_-]{1,800}$"`,
		"parameter QueueName takes",
	},
	{
		"a namespace of AWS", `AllowedPattern: "^([B-Za-z0-9._#-]|A[A-VX-Za-z0-9._/#-])[A-Za-z0-9._/#-]{3,39}$"`,
		`AllowedPattern: "^[A-Za-z0-9._/#-]{1,40}$"`, `parameter MetricsNamespace takes "AWS/SQS"`,
	},
	{"a version that Lambda refuses", "{1,4})?|1([.]0{1,4})?)$", "{1,40})?|1([.]0{1,4})?)$", "parameter Jitter takes"},
	{
		"a parameter without a range", ", AllowedValues: [exponential, stepped]", "",
		"parameter Backoff lacks a range",
	},
	{"a parameter that nothing reads", "        SQSAFE_JITTER: !Ref Jitter\n", "", "SQSAFE_JITTER is"},
	{"an attribute of nothing", "!GetAtt ChargeLogGroup.Arn", "!GetAtt ChargeLogs.Arn", "ChargeLogs"},
	{
		"a queue URL that is not put out", "Value: !Ref NotifyQueue}", "Value: !Ref NotifyDeadLetterQueue}",
		"no output has",
	},
	{
		"metrics switched off", "._/#-]{3,39}$", "._/#-]{0,39}$", `parameter MetricsNamespace takes "off"`,
	},
	{"payloads in the log", "Default: 0, MinValue: 0, MaxValue: 1024", "Default: 64, MinValue: 0, MaxValue: 1024",
		"default of LogExcerptBytes is 64"},
	{
		"a version's words too many", "timeout ${FunctionTimeout} s,",
		"the timeout of one batch is ${FunctionTimeout} s,", "VersionDescription of",
	},
}
