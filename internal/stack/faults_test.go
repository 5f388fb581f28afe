package stack

import (
	"slices"
	"strings"
	"testing"
)

// flaw is a fault in a template that can still be deployed, or nearly: the text
// to replace, its replacement, and what inspect reports.
type flaw struct{ name, old, new, want string }

// flaws are faults in queues, functions and alarms.
var flaws = []flaw{
	// The event source.
	{
		"no partial batch response", "            FunctionResponseTypes: [ReportBatchItemFailures]\n", "",
		"lacks ReportBatchItemFailures",
	},
	{"partial batch response misspelt", "[ReportBatchItemFailures]", "[ReportBatchItemFailure]", "is the only one"},
	{
		"its property misspelt", "FunctionResponseTypes:", "FunctionResponseType:",
		`no property "FunctionResponseType"`,
	},
	{
		"concurrency of 1", "MaximumConcurrency: !Ref MaximumConcurrency", "MaximumConcurrency: 1",
		"a whole number from 2",
	},
	{
		"concurrency not wired", "MaximumConcurrency: !Ref MaximumConcurrency", "MaximumConcurrency: 5",
		"MaximumConcurrency is 5, want 3",
	},
	{"no metrics of the mapping", "Metrics: [EventCount]", "Metrics: []", "metrics is [], want [EventCount]"},
	{
		"batch above 10 without a window", "BatchSize: 10", "BatchSize: 50",
		"asks for a MaximumBatchingWindowInSeconds",
	},
	{
		"a window that visibility leaves out", "BatchSize: 10",
		"BatchSize: 10\n            MaximumBatchingWindowInSeconds: 60",
		"visibility timeout 180 s, want at least 240",
	},
	{
		"a filter", "BatchSize: 10", `FilterCriteria: {Filters: [{Pattern: '{"body":{"a":["b"]}}'}]}`,
		"has FilterCriteria",
	},
	{"a destination", "BatchSize: 10", "DestinationConfig: {}", `no property "DestinationConfig"`},
	{"a start position", "BatchSize: 10", "StartingPosition: LATEST", `no property "StartingPosition"`},
	{
		"the event of another queue", "Queue: !GetAtt NotifyQueue.Arn", "Queue: !GetAtt ChargeQueue.Arn",
		"NotifyFunction",
	},

	// Queues.
	{
		"visibility too short", "VisibilityTimeout: !Ref VisibilityTimeout", "VisibilityTimeout: 60",
		"want at least 180",
	},
	{
		"visibility below the timeout", "VisibilityTimeout: !Ref VisibilityTimeout", "VisibilityTimeout: 20",
		"raise that to six times",
	},
	{
		"one receive", "maxReceiveCount: !Ref MaxReceiveCount", "maxReceiveCount: 1",
		"maxReceiveCount 1, want at least 24",
	},
	{
		"receives of a standard queue on a FIFO one", "maxReceiveCount: !Ref FifoMaxReceiveCount",
		"maxReceiveCount: !Ref MaxReceiveCount", "SQSAFE_MAX_RECEIVES is 200, want 30",
	},
	{
		"receives said wrongly", "SQSAFE_MAX_RECEIVES: !Ref FifoMaxReceiveCount",
		"SQSAFE_MAX_RECEIVES: !Ref MaxReceiveCount", "SQSAFE_MAX_RECEIVES is 30, want 200",
	},
	{
		"no redrive policy",
		"      RedrivePolicy: {deadLetterTargetArn: !GetAtt ChargeDeadLetterQueue.Arn, maxReceiveCount: " +
			"!Ref MaxReceiveCount}\n",
		"", "has no dead-letter queue",
	},
	{
		"dead-letter queue of the other type", "deadLetterTargetArn: !GetAtt StockDeadLetterQueue.Arn",
		"deadLetterTargetArn: !GetAtt ChargeDeadLetterQueue.Arn", "of the other type",
	},
	{
		"dead-letter queue no FIFO queue", "      FifoQueue: true\n      MessageRetentionPeriod: 1209600",
		"      MessageRetentionPeriod: 1209600", "a name ends in .fifo",
	},
	{
		"dead letters of the function, not the queue", "      CodeUri: functions/charge/",
		"      CodeUri: functions/charge/\n" +
			"      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt ChargeDeadLetterQueue.Arn}",
		"has the property DeadLetterQueue",
	},
	{
		"no redrive allow policy",
		"      RedriveAllowPolicy: {redrivePermission: byQueue,", "      Tags: {redrivePermission: byQueue,",
		"ChargeDeadLetterQueue",
	},
	{
		"everybody may use the dead-letter queue", "redrivePermission: byQueue", "redrivePermission: allowAll",
		"RedriveAllowPolicy is",
	},
	{
		"allowed for another source", "${AWS::AccountId}:${NotifyQueueName}", "${AWS::AccountId}:${QueueName}",
		"NotifyDeadLetterQueue: RedriveAllowPolicy is",
	},
	{
		"retentions swapped, source", "MessageRetentionPeriod: 345600", "MessageRetentionPeriod: 1209600",
		"ChargeQueue: retention is 1209600",
	},
	{
		"retentions swapped, dead letters", "MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 345600",
		"ChargeDeadLetterQueue: retention is 345600",
	},
	{"no encryption", "      SqsManagedSseEnabled: true\n", "", "SqsManagedSseEnabled is"},
	{
		"dead letters go with the stack",
		"  ChargeDeadLetterQueue:\n    Type: AWS::SQS::Queue\n    DeletionPolicy: RetainExceptOnCreate",
		"  ChargeDeadLetterQueue:\n    Type: AWS::SQS::Queue\n    DeletionPolicy: Delete",
		"DeletionPolicy is Delete",
	},

	// Tables.
	{
		"no TTL", "      TimeToLiveSpecification: {AttributeName: expiration, Enabled: true}\n", "",
		"TTL attribute is , want expiration",
	},
	{"another TTL attribute", "AttributeName: expiration", "AttributeName: expires_at", "want expiration"},
	{"another key", "{AttributeName: id, KeyType: HASH}", "{AttributeName: pk, KeyType: HASH}", "pk"},
	{"no recovery", "PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false", "recovery is false"},
	{
		"a throughput to pay for", "BillingMode: PAY_PER_REQUEST", "BillingMode: PROVISIONED",
		"BillingMode is PROVISIONED",
	},

	// Functions.
	{"another handler", "Handler: bootstrap", "Handler: main", "Handler is main"},
	{"another runtime", "Runtime: provided.al2023", "Runtime: go1.x", "write provided.al2023"},
	{"architecture fixed", "Architectures: [!Ref Architecture]", "Architectures: [arm64]", "want [x86_64]"},
	{"architecture unknown", "AllowedValues: [arm64, x86_64]", "AllowedValues: [arm64, amd64]", "Architecture"},
	{"no endpoint variable", "AWS_ENDPOINT_URL: !If", "AWS_ENDPOINTS_URL: !If", "AWS_ENDPOINT_URL is"},
	{
		"attempts not wired", "SQSAFE_MAX_ATTEMPTS: !Ref MaxAttempts", "SQSAFE_MAX_ATTEMPTS: 8",
		"SQSAFE_MAX_ATTEMPTS is 8",
	},
	{
		"dead letters to another queue", "SQSAFE_DLQ_URL: !Ref NotifyDeadLetterQueue",
		"SQSAFE_DLQ_URL: !Ref ChargeDeadLetterQueue", "NotifyFunction: SQSAFE_DLQ_URL is",
	},
	{
		"dead letters by ARN", "SQSAFE_DLQ_URL: !Ref ChargeDeadLetterQueue",
		"SQSAFE_DLQ_URL: !GetAtt ChargeDeadLetterQueue.Arn", "SQSAFE_DLQ_URL is arn:",
	},
	{"logs as text", "LogFormat: JSON", "LogFormat: Text", "LogFormat is Text"},
	{
		"logs kept for ever", "RetentionInDays: !Ref LogRetentionDays", "LogGroupClass: STANDARD",
		"RetentionInDays is <nil>",
	},
	{
		"a log group that nobody declared", "LogGroup: !Ref NotifyLogGroup", "LogGroup: /aws/lambda/notify",
		"want one of this",
	},
	{"no rollback on a flood", ", !Ref ChargeNewVersionFloodAlarm]", "]", "rollback alarms"},
	{
		"rollback on another function's errors", "[!Ref StockNewVersionErrorsAlarm,",
		"[!Ref ChargeNewVersionErrorsAlarm,", "StockFunction: rollback alarms",
	},
	{
		"versions that miss a parameter", "concurrency ${Concurrency}, ", "",
		"parameter Concurrency is not in the VersionDescription",
	},
	{
		"versions for code only", "      AutoPublishAliasAllProperties: true\n", "",
		"AutoPublishAliasAllProperties is",
	},
	{"no alias", "    AutoPublishAlias: live\n", "", "AutoPublishAlias is"},
	{
		"versions that a deployment deletes", "    UpdateReplacePolicy: Retain\n    Metadata:", "    Metadata:",
		"ChargeFunction: UpdateReplacePolicy is , want Retain",
	},
	{
		"versions that their successors delete", "    UpdateReplacePolicy: Retain\n    Metadata:",
		"    DeletionPolicy: Delete\n    UpdateReplacePolicy: Retain\n    Metadata:",
		"ChargeFunction: DeletionPolicy is Delete",
	},
	{
		"a dead-letter queue whose name may be too long", "      QueueName: !Sub dead-${StockQueueName}", "      Tags: []",
		"may not fit into 80 characters",
	},
}

// TestFlawsInTheTemplateAreReported puts each fault into the repository's
// template.
func TestFlawsInTheTemplateAreReported(t *testing.T) {
	t.Parallel()
	sound := repositoryText(t)
	for _, f := range slices.Concat(flaws, rightsFlaws, wordsFlaws) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(sound, f.old, f.new, 1)
			if text == sound {
				t.Fatalf("the template has no %q", f.old)
			}
			var problems string
			for _, parameters := range []map[string]string{changed(), nil, utmost()} {
				problems += strings.Join(inspect(text, parameters), "\n")
				if strings.Contains(problems, f.want) {
					return
				}
			}
			t.Errorf("nothing says %q:\n%s", f.want, problems)
		})
	}
}
