package stack

import "strings"

// wordsFlaws are faults in descriptions, outputs and parameters.
var wordsFlaws = []flaw{
	{
		"another queue to look into", "--queue-url ${ChargeDeadLetterQueue} --message-attribute-names sqsafe",
		"--queue-url ${StockDeadLetterQueue} --message-attribute-names sqsafe", "the description has the commands",
	},
	{
		"another function to stop", "function with the output ChargePauseCommand",
		"function with the output StockPauseCommand", "names the outputs",
	},
	{
		"another queue to redrive", "output\n        ChargeRedriveCommand", "output\n        StockRedriveCommand",
		"names the outputs",
	},
	{
		"another log to read", "--log-group-name ${ChargeLogGroup}", "--log-group-name ${NotifyLogGroup}",
		"the description has the commands",
	},
	{
		"another function's name", "New jobs of the charge function", "New jobs of the stock function",
		`lacks "the Charge function"`,
	},
	{
		"another queue to be fed from", "--event-source-arn ${NotifyQueue.Arn}",
		"--event-source-arn ${ChargeQueue.Arn}", "the description has the commands",
	},
	{
		"a command misspelt", "aws logs filter-log-events", "aws logs filter-log-event",
		"the description has the commands",
	},
	{"a command of version 2", "aws logs filter-log-events", "aws logs tail", "the description has the commands"},
	{
		"a purge", "First read their reasons: aws sqs receive-message",
		"First read their reasons: aws sqs purge-queue", "the description has the commands",
	},
	{
		"a purge besides", "Mend the cause; then", "Mend the cause with aws sqs purge-queue; then",
		"a command that does not stand alone",
	},
	{
		"another region", "receive-message --region\n        ${AWS::Region}",
		"receive-message --region\n        us-west-2", "the description has the commands",
	},
	{
		"receives of the other type", "At ${MaxReceiveCount} SQS dead-letters",
		"At ${FifoMaxReceiveCount} SQS dead-letters", `lacks "At 40 SQS`,
	},
	{
		"a description that the cloud cuts", "holds jobs: each is", "holds jobs" + strings.Repeat(" and holds jobs",
			30) + ": each is", "want 1024 at most",
	},
	{
		"a look that hides for hours", "--visibility-timeout 5 --max-number-of-messages 10\n  ChargeRedriveCommand",
		"--visibility-timeout 43200 --max-number-of-messages 10\n  ChargeRedriveCommand", "no output has",
	},
	{
		"an output that purges",
		"aws sqs receive-message --region ${AWS::Region} --queue-url ${ChargeDeadLetterQueue} --attribute-names All",
		"aws sqs purge-queue --region ${AWS::Region} --queue-url ${ChargeDeadLetterQueue}", "none of the known",
	},
	{
		"a topic of any form", "AllowedPattern: ^(arn:[^:]+:sns:[^:]+:[0-9]{12}:.+)?$", "AllowedPattern: .*",
		"parameter AlarmTopicArn takes",
	},
	{
		"minutes that a canary does not take", "    MinValue: 5\n    MaxValue: 60",
		"    MinValue: 1\n    MaxValue: 60", "parameter StalledMinutes takes",
	},
	{"a timeout that Lambda refuses", "MaxValue: 900\n", "MaxValue: 9000\n", "parameter FunctionTimeout takes"},
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
		"logs of a day", "Default: 30\n    AllowedValues: [1,", "Default: 1\n    AllowedValues: [1,",
		"default of LogRetentionDays is 1",
	},
	{
		"a log retention that there is not", "AllowedValues: [1, 3,", "AllowedValues: [1, 2, 3,",
		"parameter LogRetentionDays takes",
	},
	{
		"a flood too late", "Default: 10\n    MinValue: 1\n    MaxValue: 1000000",
		"Default: 100000\n    MinValue: 1\n    MaxValue: 1000000", "default of FloodThreshold",
	},
	{
		"a name that SQS refuses", "AllowedPattern: ^[A-Za-z0-9_-]{1,80}$", "AllowedPattern: ^[A-Za-z0-9_-]{1,800}$",
		"parameter QueueName takes",
	},
	{
		"a namespace of AWS", "AllowedPattern: ^([B-Za-z0-9._#-]|A[A-VX-Za-z0-9._/#-])[A-Za-z0-9._/#-]{0,39}$",
		"AllowedPattern: ^[A-Za-z0-9._/#-]{1,40}$", `parameter MetricsNamespace takes "AWS/SQS"`,
	},
	{"a version that Lambda refuses", "{1,4})?|1([.]0{1,4})?)$", "{1,40})?|1([.]0{1,4})?)$", "parameter Jitter takes"},
	{
		"a version's words too many", "timeout ${FunctionTimeout} s,",
		"the timeout of one batch is ${FunctionTimeout} s,", "VersionDescription of",
	},
}
