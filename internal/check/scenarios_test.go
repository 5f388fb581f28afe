//nolint:lll // a row of a table is one line
package check

import (
	"slices"
	"strings"
	"testing"
)

// scenario is one of the sound stacks with changes, each a text and what takes
// its place, and the rules that it breaks then.
type scenario struct {
	name    string
	changes []string
	rules   string
}

// Texts of the sound stacks.
const (
	baseReports  = "            FunctionResponseTypes: [ReportBatchItemFailures]\n"
	baseRedrive  = "maxReceiveCount: 30}"
	baseEnv      = "          SQSAFE_MAX_RECEIVES: 30\n"
	baseMaximum  = "            ScalingConfig: {MaximumConcurrency: 5}\n"
	baseQueue    = "      VisibilityTimeout: 180\n"
	baseDead     = "    Properties: {MessageRetentionPeriod: 1209600}\n"
	baseFunction = "      CodeUri: fn/\n"
	baseLogging  = "LoggingConfig: {LogGroup: !Ref ChargeLogGroup, LogFormat: JSON, ApplicationLogLevel: INFO}"
	plainEvent   = "            FunctionResponseTypes: [ReportBatchItemFailures]\n"
	plainQueue   = "      VisibilityTimeout: 60\n"
	plainRedrive = "      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}\n"
	plainCode    = "      CodeUri: src/\n"
)

// fifoBase makes the base stack's queues FIFO queues.
var fifoBase = []string{
	baseQueue, baseQueue + "      FifoQueue: true\n", baseDead, "    Properties: {MessageRetentionPeriod: 1209600, FifoQueue: true}\n",
	baseRedrive, "maxReceiveCount: 200}", baseEnv, "          SQSAFE_MAX_RECEIVES: 200\n",
}

// withSqsafe are changes of testdata/base.yaml, a stack that uses sqsafe.
var withSqsafe = []scenario{
	{"E40 the queue of an event", []string{"Queue: !GetAtt ChargeQueue.Arn", "Queue: !GetAtt ChargeQeue.Arn"}, "E40"},
	{"E40 in a text", []string{baseEnv, baseEnv + "          URL: !Sub 'https://${Hots}/${!x}'\n"}, "E40"},
	{"E40 not for what SAM makes", []string{baseEnv, baseEnv + "          ROLE: !GetAtt ChargeFunctionRole.Arn\n          API: !Sub 'https://${ServerlessRestApi}.x'\n"}, ""},
	{"E40 not with a macro", []string{"Transform: AWS::Serverless-2016-10-31", "Transform: [Own, AWS::Serverless-2016-10-31]",
		baseEnv, baseEnv + "          OWN: !Ref Made\n"}, ""},
	{"E41 another name", []string{"maxReceiveCount: 30}", "maxReceivesCount: 30}"}, "E41"},
	{"E41 not for a policy that is not known", []string{"{deadLetterTargetArn: !GetAtt ChargeDeadLetterQueue.Arn, maxReceiveCount: 30}",
		"{Fn::Transform: {Name: Own, Parameters: {}}}"}, ""},
	{"E42 no transform", []string{"Transform: AWS::Serverless-2016-10-31\n", ""}, "E42"},
	{"E42 not with a macro", []string{"Transform: AWS::Serverless-2016-10-31", "Transform: Own"}, ""},
	{"E01 also with a batch of one", []string{baseReports, "", "BatchSize: 10", "BatchSize: 1"}, "E01"},
	{"E01 not where the list is not known", []string{"[ReportBatchItemFailures]", "!Ref Types",
		"Parameters:\n", "Parameters:\n  Types: {Type: CommaDelimitedList}\n"}, ""},
	{"E02 from the defaults of AWS", []string{baseQueue, "", "    Timeout: 30\n", "    Timeout: 31\n"}, "E02"},
	{"E02 not for a timeout without a value", []string{"Timeout: 30\n", "Timeout: !Ref T\n",
		"Parameters:\n", "Parameters:\n  T: {Type: Number}\n"}, ""},
	{"W03 with a window", []string{baseMaximum, baseMaximum + "            MaximumBatchingWindowInSeconds: 10\n"}, "W03"},
	{"W03 just enough with a window", []string{baseMaximum, baseMaximum + "            MaximumBatchingWindowInSeconds: 10\n",
		baseQueue, "      VisibilityTimeout: 190\n"}, ""},
	{"E05 at the budget", []string{baseRedrive, "maxReceiveCount: 8}", baseEnv, "          SQSAFE_MAX_RECEIVES: 8\n"}, "E05"},
	{"E05 not above a smaller budget", []string{baseRedrive, "maxReceiveCount: 8}", baseEnv,
		"          SQSAFE_MAX_RECEIVES: 8\n          SQSAFE_BACKOFF: stepped\n"}, ""},
	{"E05 with a larger budget", []string{baseEnv, baseEnv + "          SQSAFE_MAX_ATTEMPTS: 40\n"}, "E05"},
	{"E06 as a text", []string{baseEnv, "          SQSAFE_MAX_RECEIVES: '29'\n"}, "E06"},
	{"E06 not with one parameter for both", []string{baseRedrive, "maxReceiveCount: !Ref M}", baseEnv,
		"          SQSAFE_MAX_RECEIVES: !Ref M\n", "Parameters:\n", "Parameters:\n  M: {Type: Number, Default: 20}\n"}, ""},
	{"E09 the dead letters go first", []string{"1209600", "86400"}, "E09"},
	{"E09 not for FIFO queues, whose age begins anew", append(slices.Clone(fifoBase),
		"MessageRetentionPeriod: 1209600, ", "MessageRetentionPeriod: 86400, "), ""},
	{"W09 the same time", []string{"{MessageRetentionPeriod: 1209600}", "{MessageRetentionPeriod: 345600}"}, "W09"},
	{"W09 not with a day more", []string{"{MessageRetentionPeriod: 1209600}", "{MessageRetentionPeriod: 432000}"}, ""},
	{"E10 nobody", []string{"{MessageRetentionPeriod: 1209600}",
		"{MessageRetentionPeriod: 1209600, RedriveAllowPolicy: {redrivePermission: denyAll}}"}, "E10"},
	{"E10 another queue", []string{"{MessageRetentionPeriod: 1209600}", "{MessageRetentionPeriod: 1209600, RedriveAllowPolicy: " +
		"{redrivePermission: byQueue, sourceQueueArns: ['arn:aws:sqs:eu-west-1:123456789012:other']}}"}, "E10"},
	{"E10 not for this queue", []string{"{MessageRetentionPeriod: 1209600}", "{MessageRetentionPeriod: 1209600, " +
		"RedriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [!GetAtt ChargeQueue.Arn]}}"}, ""},
	{"E10 not for this queue by its name", []string{baseQueue, baseQueue + "      QueueName: !Sub '${AWS::StackName}-jobs'\n",
		"{MessageRetentionPeriod: 1209600}", "{MessageRetentionPeriod: 1209600, RedriveAllowPolicy: {redrivePermission: " +
			"byQueue, sourceQueueArns: [!Sub 'arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:${AWS::StackName}-jobs']}}"}, ""},
	{"E11 no dead letters", []string{"Action: sqs:SendMessage", "Action: sqs:GetQueueUrl"}, "E11"},
	{"E11 no ledger", []string{"dynamodb:UpdateItem", "dynamodb:GetItem"}, "E11"},
	{"E11 the right on another queue", []string{"Action: sqs:SendMessage, Resource: !GetAtt ChargeDeadLetterQueue.Arn",
		"Action: sqs:SendMessage, Resource: !GetAtt ChargeQueue.Arn"}, "E11 W33"},
	{"W33 not where it is denied", []string{"{Effect: Allow, Action: sqs:SendMessage,",
		"{Effect: Deny, Action: sqs:SendMessage, Resource: !GetAtt ChargeQueue.Arn}\n              - {Effect: Allow, Action: sqs:SendMessage,"}, ""},
	{"E39 a required one", []string{"SQSAFE_MAX_RECEIVES", "SQSAFE_MAX_RECEIVE"}, "E39"},
	{"E39 one with a default", []string{baseEnv, baseEnv + "          SQSAFE_CONCURENCY: 4\n"}, "E39"},
	{"E39 not for one of the user", []string{baseEnv, baseEnv + "          SQSAFE_CUSTOMER_NUMBER: 4\n          SQSAFE_QUEUE_URL: x\n"}, ""},
	{"E11 denied", []string{"{Effect: Allow, Action: sqs:SendMessage,", "{Effect: Deny, Action: 'dynamodb:*', Resource: '*'}\n" +
		"              - {Effect: Allow, Action: sqs:SendMessage,"}, "E11"},
	{"E11 not where something else is denied", []string{"{Effect: Allow, Action: sqs:SendMessage,",
		"{Effect: Deny, Action: dynamodb:DeleteItem, Resource: '*'}\n              - {Effect: Allow, Action: sqs:SendMessage,"}, ""},
	{"E11 not where a denial has a condition", []string{"{Effect: Allow, Action: sqs:SendMessage,",
		"{Effect: Deny, Action: '*', Resource: '*', Condition: {Bool: {'aws:SecureTransport': 'false'}}}\n" +
			"              - {Effect: Allow, Action: sqs:SendMessage,"}, ""},
	{"E11 not with a wildcard", []string{"dynamodb:UpdateItem", "'dynamodb:*'"}, ""},
	{"E11 not where a statement has a condition", []string{"{Effect: Allow, Action: sqs:SendMessage,",
		"{Effect: Allow, Condition: {Bool: {a: true}}, Action: sqs:SendMessage,"}, ""},
	{"E11 not with a policy that is not known", []string{"      Policies:\n        - PolicyName: charge",
		"      ManagedPolicyArns: [!ImportValue shared]\n      Policies:\n        - PolicyName: charge",
		"sqs:ChangeMessageVisibility, ", ""}, ""},
	{"E11 the key", []string{baseQueue, baseQueue + "      KmsMasterKeyId: !Ref Key\n", "  LedgerTable:\n",
		"  Key: {Type: AWS::KMS::Key, Properties: {}}\n  LedgerTable:\n"}, "E11"},
	{"E12 SAM's own role", []string{"      Role: !GetAtt ChargeRole.Arn\n", ""}, "E12 E12 E12 W12"},
	{"E12 not with the policies for it", []string{"      Role: !GetAtt ChargeRole.Arn\n", "      Policies:\n" +
		"        - SQSPollerPolicy: {QueueName: !GetAtt ChargeQueue.QueueName}\n" +
		"        - SQSSendMessagePolicy: {QueueName: !GetAtt ChargeDeadLetterQueue.QueueName}\n" +
		"        - DynamoDBCrudPolicy: {TableName: !Ref LedgerTable}\n"}, "W12"},
	{"E13 an ARN", []string{"SQSAFE_DLQ_URL: !Ref ChargeDeadLetterQueue", "SQSAFE_DLQ_URL: !GetAtt ChargeDeadLetterQueue.Arn"}, "E13"},
	{"E13 another queue", []string{"SQSAFE_DLQ_URL: !Ref ChargeDeadLetterQueue",
		"SQSAFE_DLQ_URL: https://sqs.eu-west-1.amazonaws.com/1/other"}, "E13"},
	{"E13 not the attribute QueueUrl", []string{"SQSAFE_DLQ_URL: !Ref ChargeDeadLetterQueue",
		"SQSAFE_DLQ_URL: !GetAtt ChargeDeadLetterQueue.QueueUrl"}, ""},
	{"E14 one", []string{"MaximumConcurrency: 5", "MaximumConcurrency: 1"}, "E14"},
	{"E14 not two", []string{"MaximumConcurrency: 5", "MaximumConcurrency: 2"}, ""},
	{"E15 none", []string{baseFunction, baseFunction + "      ReservedConcurrentExecutions: 0\n"}, "E15"},
	{"E15 not as many", []string{baseFunction, baseFunction + "      ReservedConcurrentExecutions: 5\n"}, ""},
	{"W15 without a limit", []string{baseFunction, baseFunction + "      ReservedConcurrentExecutions: 1\n", baseMaximum, ""}, "W15"},
	{"W15 not five", []string{baseFunction, baseFunction + "      ReservedConcurrentExecutions: 5\n", baseMaximum, ""}, ""},
	{"E16 a FIFO queue with more than ten", append(slices.Clone(fifoBase), "BatchSize: 10", "BatchSize: 11"), "E16"},
	{"E16 a FIFO queue with a window", append(slices.Clone(fifoBase), baseMaximum,
		"            MaximumBatchingWindowInSeconds: 1\n", baseQueue, "      VisibilityTimeout: 181\n"), "E16"},
	{"E16 not a window", []string{"BatchSize: 10", "BatchSize: 1000\n            MaximumBatchingWindowInSeconds: 1",
		baseQueue, "      VisibilityTimeout: 181\n"}, ""},
	{"E17 a part of the body", []string{baseMaximum, baseMaximum +
		"            FilterCriteria: {Filters: [{Pattern: '{\"body\": {\"id\": [{\"exists\": true}]}}'}]}\n"}, "E17"},
	{"E17 not an empty list", []string{baseMaximum, baseMaximum + "            FilterCriteria: {Filters: []}\n"}, ""},
	{"E19 another key", []string{"AttributeName: id", "AttributeName: key"}, "E19"},
	{"E19 a number", []string{"AttributeType: S", "AttributeType: N"}, "E19"},
	{"E19 a range key", []string{"KeySchema: [{AttributeName: id, KeyType: HASH}]",
		"KeySchema: [{AttributeName: id, KeyType: HASH}, {AttributeName: sort, KeyType: RANGE}]"}, "E19"},
	{"E19 another attribute", []string{"AttributeName: expiration", "AttributeName: ttl"}, "E19"},
	{"E19 not for a table that is no ledger", []string{"SQSAFE_TABLE: !Ref LedgerTable", "SQSAFE_TABLE: shared",
		"AttributeName: expiration", "AttributeName: ttl"}, ""},
	{"E19 off", []string{"Enabled: true", "Enabled: false"}, "E19"},
	{"W20 text", []string{"LogFormat: JSON", "LogFormat: Text"}, "W20"},
	{"W20 not at DEBUG", []string{"ApplicationLogLevel: INFO", "ApplicationLogLevel: DEBUG"}, ""},
	{"E22 the dead-letter queue as well", []string{"      Events:\n", "      Events:\n        Dead: {Type: SQS, Properties: {Queue: " +
		"!GetAtt ChargeDeadLetterQueue.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}}\n"}, "E11 E13 E22 W03 W30 W33"},
	{"W23 disabled", []string{baseMaximum, baseMaximum + "            Enabled: false\n"}, "W23"},
	{"W23 not by a parameter without a value", []string{baseMaximum, baseMaximum + "            Enabled: !Ref On\n",
		"Parameters:\n", "Parameters:\n  On: {Type: String}\n"}, ""},
	{"E24 stepped", []string{baseQueue, baseQueue + "      MessageRetentionPeriod: 1800\n",
		baseEnv, baseEnv + "          SQSAFE_BACKOFF: stepped\n"}, "E24"},
	{"E24 not for an hour", []string{baseQueue, baseQueue + "      MessageRetentionPeriod: 3600\n"}, ""},
	{"W25 the ledger", []string{"    DeletionPolicy: RetainExceptOnCreate\n    UpdateReplacePolicy: Retain\n    Properties:\n      Bill",
		"    Properties:\n      Bill"}, "W25"},
	{"W25 the log", []string{"    Properties: {RetentionInDays: 30}\n", ""}, "W25"},
	{"W25 not with Retain", []string{"RetainExceptOnCreate", "Retain"}, ""},
	{"W28 W37 an alias", []string{baseFunction, baseFunction + "      AutoPublishAlias: live\n",
		"SQSAFE_TABLE: !Ref LedgerTable", "SQSAFE_TABLE: !Ref LedgerTable\n          TOPIC: !Ref AlarmTopicArn"}, "W28 W37"},
	{"W28 the version is replaced", []string{baseFunction, baseFunction +
		"      AutoPublishAlias: live\n      VersionDescription: !Ref AlarmTopicArn\n",
		"SQSAFE_TABLE: !Ref LedgerTable", "SQSAFE_TABLE: !Ref LedgerTable\n          TOPIC: !Ref AlarmTopicArn"}, "W28"},
	{"W28 W37 not with both", []string{baseFunction, baseFunction +
		"      AutoPublishAlias: live\n      VersionDescription: !Ref AlarmTopicArn\n",
		"  ChargeFunction:\n    Type", "  ChargeFunction:\n    UpdateReplacePolicy: Retain\n    Type",
		"SQSAFE_TABLE: !Ref LedgerTable", "SQSAFE_TABLE: !Ref LedgerTable\n          TOPIC: !Ref AlarmTopicArn"}, ""},
	{"W29 as for standard", append(slices.Clone(fifoBase), "200}", "30}", "SQSAFE_MAX_RECEIVES: 200", "SQSAFE_MAX_RECEIVES: 30"), "W29"},
	{"W29 not with 200", fifoBase, ""},
	{"W29 not with a batch of one", append(slices.Clone(fifoBase), "200}", "30}", "SQSAFE_MAX_RECEIVES: 200",
		"SQSAFE_MAX_RECEIVES: 30", "BatchSize: 10", "BatchSize: 1"), ""},
	{"E32 one poller", []string{baseMaximum, "            ProvisionedPollerConfig: {MinimumPollers: 1}\n"}, "E32"},
	{"E32 too many", []string{baseMaximum, "            ProvisionedPollerConfig: {MaximumPollers: 10001}\n"}, "E32"},
	{"E32 beside a limit", []string{baseMaximum, baseMaximum + "            ProvisionedPollerConfig: {MinimumPollers: 2}\n"}, "E32"},
	{"E32 not in the range", []string{baseMaximum,
		"            ProvisionedPollerConfig: {MinimumPollers: 300, MaximumPollers: 10000}\n"}, ""},
	{"W33 to itself", []string{"sqs:GetQueueAttributes]", "sqs:GetQueueAttributes, sqs:SendMessage]"}, "W33"},
	{"W33 by a right for all and its URL", []string{"Action: sqs:SendMessage, Resource: !GetAtt ChargeDeadLetterQueue.Arn",
		"Action: sqs:SendMessage, Resource: '*'", baseEnv, baseEnv + "          AGAIN: !Ref ChargeQueue\n"}, "W33"},
	{"W33 not by a right for all alone", []string{"Action: sqs:SendMessage, Resource: !GetAtt ChargeDeadLetterQueue.Arn",
		"Action: sqs:SendMessage, Resource: '*'"}, ""},
	{"W33 not to the dead-letter queue", nil, ""},
	{"E35 not with two FIFO queues", fifoBase, ""},
	{"E35 a FIFO dead-letter queue", []string{"{MessageRetentionPeriod: 1209600}", "{MessageRetentionPeriod: 1209600, FifoQueue: true}"},
		"E35"},
}

// without are changes of testdata/plain.yaml, a stack without sqsafe.
var without = []scenario{
	{"E38 the URL of a source", []string{"Queue: !GetAtt Jobs.Arn", "Queue: !Ref Jobs"}, "E38"},
	{"E38 the name of a dead-letter queue", []string{"deadLetterTargetArn: !GetAtt Dead.Arn", "deadLetterTargetArn: !GetAtt Dead.QueueName"}, "E38"},
	{"E38 not for an ARN that is a parameter", []string{"deadLetterTargetArn: !GetAtt Dead.Arn", "deadLetterTargetArn: !Ref Target",
		"Parameters:\n", "Parameters:\n  Target: {Type: String}\n"}, ""},
	{"E36 the URL of a queue", []string{"!GetAtt Dead.QueueName", "!Ref Dead"}, "E36"},
	{"E36 the ARN of a queue", []string{"!GetAtt Dead.QueueName", "!GetAtt Dead.Arn"}, "E36"},
	{"E36 the URL of a queue elsewhere", []string{"!GetAtt Dead.QueueName", "!Sub 'https://sqs.${AWS::Region}.amazonaws.com/1/dead'"}, "E36 W07"},
	{"E36 not for a name that is given", []string{"!GetAtt Dead.QueueName", "dead", "    Properties: {MessageRetentionPeriod: 1209600}\n",
		"    Properties: {MessageRetentionPeriod: 1209600, QueueName: dead}\n"}, ""},
	{"E36 the ARN of a function", []string{"AWS/SQS", "AWS/Lambda", "Name: QueueName, Value: !GetAtt Dead.QueueName",
		"Name: FunctionName, Value: !GetAtt Worker.Arn"}, "E36 W07"},
	{"W01 a batch", []string{plainEvent, ""}, "W01"},
	{"W01 not with one at a time", []string{plainEvent, "            BatchSize: 1\n"}, ""},
	{"E04 no dead-letter queue", []string{plainRedrive, ""}, "E04"},
	{"E04 not with one of another stack", []string{"!GetAtt Dead.Arn", "!ImportValue dead"}, ""},
	{"W05 three receives", []string{"maxReceiveCount: 5", "maxReceiveCount: 3"}, "W05"},
	{"W05 not by a parameter without a value", []string{"maxReceiveCount: 5", "maxReceiveCount: !Ref N", "Parameters:\n",
		"Parameters:\n  N: {Type: Number}\n"}, ""},
	{"E07 what is sent", []string{"ApproximateNumberOfMessagesVisible", "NumberOfMessagesSent"}, "E07"},
	{"E07 not beside an alarm on the depth", []string{"  DeadAlarm:\n", `  SentAlarm:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmActions: [!Ref Topic]
      Namespace: AWS/SQS
      MetricName: NumberOfMessagesSent
      Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]
  DeadAlarm:
`}, ""},
	{"W07 no alarm", []string{"!GetAtt Dead.QueueName", "!GetAtt Jobs.QueueName"}, "W07"},
	{"W07 not with metric math", []string{"      Namespace: AWS/SQS\n      MetricName: ApproximateNumberOfMessagesVisible\n" +
		"      Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]\n      Statistic: Maximum\n      Period: 60\n",
		"      Metrics: [{Id: v, MetricStat: {Stat: Maximum, Period: 60, Metric: {Namespace: AWS/SQS, MetricName: " +
			"ApproximateNumberOfMessagesVisible, Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]}}}]\n"}, ""},
	{"W07 not with an alarm that other parameters make", []string{"  DeadAlarm:\n", "  DeadAlarm:\n    Condition: Big\n",
		"Resources:\n", "Conditions: {Big: !Equals [!Ref Greeting, big]}\nResources:\n"}, ""},
	{"W07 not with an alarm on a queue that is not known", []string{"!GetAtt Dead.QueueName", "!Ref Topic"}, ""},
	{"W08 no action", []string{"      AlarmActions: [!Ref Topic]\n", ""}, "W08"},
	{"W08 switched off", []string{"      AlarmActions: [!Ref Topic]\n", "      AlarmActions: [!Ref Topic]\n      ActionsEnabled: false\n"}, "W08"},
	{"W08 not as a part of a composite alarm", []string{"      AlarmActions: [!Ref Topic]\n", "", "  DeadAlarm:\n",
		"  Both: {Type: AWS::CloudWatch::CompositeAlarm, Properties: {AlarmRule: !Sub 'ALARM(${DeadAlarm})'}}\n  DeadAlarm:\n"}, ""},
	{"W08 not with a choice", []string{"[!Ref Topic]", "[!If [Big, !Ref Topic, !Ref 'AWS::NoValue']]",
		"Resources:\n", "Conditions: {Big: !Equals [!Ref Greeting, big]}\nResources:\n"}, ""},
	{"W12 full access", []string{plainCode, plainCode + "      Policies: [AmazonSQSFullAccess]\n"}, "W12"},
	{"W12 not SAM's own", nil, ""},
	{"W17 not an empty list", []string{plainEvent, plainEvent + "            FilterCriteria: {Filters: []}\n"}, ""},
	{"W17 a filter", []string{plainEvent, plainEvent + "            FilterCriteria: {Filters: [{Pattern: '{}'}]}\n"}, "W17"},
	{"W18 a dead-letter queue of the function", []string{plainCode, plainCode +
		"      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Dead.Arn}\n"}, "W18"},
	{"W18 not with another event", []string{plainCode, plainCode +
		"      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Dead.Arn}\n",
		"      Events:\n", "      Events:\n        Daily: {Type: Schedule, Properties: {Schedule: rate(1 day)}}\n"}, ""},
	{"E22 not with conditions that exclude each other", []string{"  Jobs:\n    Type", `  Other:
    Type: AWS::Serverless::Function
    Condition: Big
    Properties:
      CodeUri: src/
      Timeout: 10
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}}}
  Jobs:
    Type`, "Parameters:\n", "Parameters:\n  Size: {Type: String}\n", "Resources:\n",
		"Conditions: {Big: !Equals [!Ref Size, big]}\nResources:\n"}, ""},
	{"E24 receives that take longer than the queue keeps", []string{plainQueue, plainQueue + "      MessageRetentionPeriod: 300\n"}, "E24"},
	{"E24 not with seconds left", []string{plainQueue, plainQueue + "      MessageRetentionPeriod: 301\n"}, ""},
	{"W30 a consumer of dead letters", []string{"  Jobs:\n    Type", `  Parker:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: src/
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Dead.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}}}
  Jobs:
    Type`}, "W30"},
	{"W30 not with an alarm on another metric", []string{"ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage",
		"  Jobs:\n    Type", `  Parker:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: src/
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Dead.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}}}
  Jobs:
    Type`}, ""},
	{"E31 no version", []string{plainCode, plainCode + "      DurableConfig: {ExecutionTimeout: 600}\n"}, "E31"},
	{"E31 a day", []string{plainCode, plainCode + "      AutoPublishAlias: live\n      DurableConfig: {ExecutionTimeout: 86400}\n"}, "E31"},
	{"E31 not a quarter of an hour", []string{plainCode, plainCode +
		"      AutoPublishAlias: live\n      DurableConfig: {ExecutionTimeout: 900}\n"}, ""},
	{"W34 an alarm on DynamoDB", []string{"  Dead:\n", `  Slow:
    Type: AWS::CloudWatch::Alarm
    Properties:
      {AlarmActions: [!Ref Topic], Namespace: AWS/DynamoDB, MetricName: SystemErrors, TreatMissingData: notBreaching}
  Dead:
`}, "W34"},
	{"W34 not where it says what happens", []string{"  Dead:\n", `  Slow:
    Type: AWS::CloudWatch::Alarm
    Properties:
      {AlarmActions: [!Ref Topic], Namespace: AWS/DynamoDB, MetricName: SystemErrors, TreatMissingData: ignore}
  Dead:
`}, ""},
	{"W00 no reason", []string{"  Jobs:\n    Type", "  # sqsafe:ignore E04\n  Jobs:\n    Type", plainRedrive, ""}, "W00 E04"},
	{"W00 no rule", []string{"  Jobs:\n    Type", "  # sqsafe:ignore X99 because\n  Jobs:\n    Type"}, "W00"},
	{"W00 not with a reason", []string{"  Jobs:\n    Type", "  # sqsafe:ignore E04 we drop what fails\n  Jobs:\n    Type",
		plainRedrive, ""}, ""},
}

// synthesized are changes of testdata/synth.json, as cdk synth writes it.
var synthesized = []scenario{
	{"W01", []string{`,
        "FunctionResponseTypes": ["ReportBatchItemFailures"]`, ""}, "W01"},
	{"E02 W03 W05", []string{`"VisibilityTimeout": 60`, `"VisibilityTimeout": 5`, `"maxReceiveCount": 5`, `"maxReceiveCount": 1`}, "E02 W05"},
	{"E11 a role without the grant", []string{`"Roles": [{"Ref": "WorkerRole1A2B"}]`, `"Roles": ["another"]`}, "E11"},
	{"E31 a durable function", []string{`"Timeout": 10`, `"Timeout": 10, "DurableConfig": {"ExecutionTimeout": 900}`}, "E31"},
	{"E31 not by its alias", []string{`"Timeout": 10`, `"Timeout": 10, "DurableConfig": {"ExecutionTimeout": 900}`,
		`"FunctionName": {"Ref": "Worker7A8B"}`, `"FunctionName": {"Ref": "Alias"}`, `"Resources": {`,
		`"Resources": {"Alias": {"Type": "AWS::Lambda::Alias", "Properties": {"FunctionName": {"Ref": "Worker7A8B"}}},`}, ""},
	{"ignored in the Metadata", []string{`"maxReceiveCount": 5`, `"maxReceiveCount": 1`, `      "UpdateReplacePolicy": "Delete"`,
		`      "Metadata": {"sqsafe": {"ignore": {"W05": "one run is all we want"}}}, "UpdateReplacePolicy": "Delete"`}, ""},
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for file, scenarios := range map[string][]scenario{
		"testdata/base.yaml": withSqsafe, "testdata/plain.yaml": without, "testdata/synth.json": synthesized,
	} {
		text := read(t, file)
		for _, s := range scenarios {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				got := rulesIn(t, file, change(t, text, s.changes))
				want := strings.Fields(s.rules)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("breaks %v, want %v", got, want)
				}
			})
		}
	}
}

// Each rule has, besides its faulty stack, an example that breaks it and one that
// comes close and does not.
func TestEachRuleHasExamples(t *testing.T) {
	t.Parallel()
	breaks, spares := map[string]bool{}, map[string]bool{}
	all := slices.Concat(withSqsafe, without, synthesized)
	for _, s := range liveScenarios {
		all = append(all, scenario{name: s.name, rules: s.rules})
	}
	for _, s := range all {
		for rule := range strings.FieldsSeq(s.rules) {
			breaks[rule] = true
		}
		for word := range strings.FieldsSeq(s.name) {
			if len(word) == 3 && strings.Trim(word[1:], "0123456789") == "" && !strings.Contains(s.rules, word) {
				spares[word] = true
			}
		}
	}
	for _, rule := range Rules() {
		if !breaks[rule.ID] {
			t.Errorf("no example breaks %s", rule.ID)
		}
		if !spares[rule.ID] {
			t.Errorf("no example comes close to %s and keeps it", rule.ID)
		}
	}
}
