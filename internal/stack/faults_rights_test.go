package stack

// rightsFlaws are faults in roles, topics and deletion policies.
var rightsFlaws = []flaw{
	// Permissions.
	{
		"a wildcard resource", "Resource: !GetAtt LedgerTable.Arn", `Resource: "*"`,
		"ChargeRole may [dynamodb:UpdateItem] on *",
	},
	{"a wildcard action", "Action: dynamodb:UpdateItem", "Action: dynamodb:*", "rights on arn:aws:dynamodb"},
	{"no right to back off", "sqs:ChangeMessageVisibility, ", "", "ChargeRole: rights on"},
	{
		"a right to send to the source", "sqs:GetQueueAttributes]", "sqs:GetQueueAttributes, sqs:SendMessage]",
		"ChargeRole: rights on",
	},
	{
		"rights on another function's queue", "Resource: !GetAtt NotifyDeadLetterQueue.Arn",
		"Resource: !GetAtt StockDeadLetterQueue.Arn", "NotifyRole may",
	},
	{
		"a scan of the stock",
		"Action: dynamodb:UpdateItem, Resource: !GetAtt StockTable.Arn",
		"Action: dynamodb:Scan, Resource: !GetAtt StockTable.Arn",
		"rights to items only",
	},
	{"SAM's own role", "      Role: !GetAtt ChargeRole.Arn\n", "", "want one of this template"},
	{
		"a managed policy", "      AssumeRolePolicyDocument:",
		"      ManagedPolicyArns: [arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole]\n" +
			"      AssumeRolePolicyDocument:",
		"ChargeRole has the property ManagedPolicyArns",
	},
	{
		"a right that is denied", "{Effect: Allow, Action: dynamodb:UpdateItem,",
		"{Effect: Deny, Action: dynamodb:UpdateItem,", "Effect is Deny",
	},
	{
		"a role for everybody", "Principal: {Service: lambda.amazonaws.com}", `Principal: {AWS: "*"}`,
		"AssumeRolePolicyDocument is",
	},
	{
		"a role for another service", "{Service: lambda.amazonaws.com}", "{Service: ec2.amazonaws.com}",
		"AssumeRolePolicyDocument is",
	},
	{
		"all actions but some", "              - {Effect: Allow, Action: sqs:SendMessage,",
		"              - {Effect: Allow, NotAction: \"iam:*\", Resource: !GetAtt LedgerTable.Arn}\n" +
			"              - {Effect: Allow, Action: sqs:SendMessage,",
		"has the property NotAction",
	},
	{
		"all resources but one", "              - {Effect: Allow, Action: sqs:SendMessage,",
		"              - {Effect: Allow, Action: sqs:SendMessage, NotResource: !GetAtt LedgerTable.Arn}\n" +
			"              - {Effect: Allow, Action: sqs:SendMessage,",
		"has the property NotResource",
	},
	{
		"a condition that never holds", "Action: sqs:SendMessage,",
		"Action: sqs:SendMessage, Condition: {StringEquals: {\"aws:RequestedRegion\": nowhere}},",
		"has the property Condition",
	},
	{
		"a boundary", "      AssumeRolePolicyDocument:",
		"      PermissionsBoundary: arn:aws:iam::aws:policy/ReadOnlyAccess\n      AssumeRolePolicyDocument:",
		"has the property PermissionsBoundary",
	},
	{
		"a queue that is open to all", "  AlarmTopic: {",
		"  OpenPolicy:\n    Type: AWS::SQS::QueuePolicy\n    Properties:\n" +
			"      Queues: [!Ref ChargeQueue]\n  AlarmTopic: {",
		"OpenPolicy is an AWS::SQS::QueuePolicy",
	},
	{
		"a subscriber of another stack's topic", "HasSubscriber: !And [!Condition HasOwnTopic, ",
		"HasSubscriber: !And [!Not [!Equals [!Ref AlarmEmail, \"\"]], ", "0 topics and 1 subscriptions",
	},
	{"a subscription by text message", "Protocol: email", "Protocol: sms", "AlarmSubscription is"},
	{
		"a subscription of the topic to itself", "Endpoint: !Ref AlarmEmail", "Endpoint: !Ref AlarmTopic",
		"AlarmSubscription is",
	},
	{
		"a subscription that filters", "Protocol: email,",
		"Protocol: email, FilterPolicy: {a: [b]},", "AlarmSubscription is",
	},
	{
		"a topic that alarms cannot publish to", "Condition: HasOwnTopic}",
		"Condition: HasOwnTopic, Properties: {KmsMasterKeyId: alias/aws/sns}}",
		"has the property KmsMasterKeyId",
	},
	{"subscribers not told of", "NOBODY, since", "Somebody, since", "output AlarmSubscribers is Somebody"},
	{
		"a queue in the way of the next stack",
		"  ChargeQueue:\n    Type: AWS::SQS::Queue\n    DeletionPolicy: Delete",
		"  ChargeQueue:\n    Type: AWS::SQS::Queue\n    DeletionPolicy: Retain",
		"ChargeQueue: DeletionPolicy is Retain",
	},
	{
		"jobs that go with a queue's name", "    UpdateReplacePolicy: Retain\n    Properties:\n      QueueName",
		"    UpdateReplacePolicy: Delete\n    Properties:\n      QueueName",
		"ChargeQueue: UpdateReplacePolicy is Delete",
	},
	{
		"a log that goes with its name", "UpdateReplacePolicy: Retain,\n    Properties: {RetentionInDays",
		"UpdateReplacePolicy: Delete,\n    Properties: {RetentionInDays",
		"ChargeLogGroup: UpdateReplacePolicy is Delete",
	},
	{
		"no concurrency at all", "      CodeUri: functions/charge/\n",
		"      CodeUri: functions/charge/\n      ReservedConcurrentExecutions: 0\n",
		"has the property ReservedConcurrentExecutions",
	},
	{
		"a network of its own", "      CodeUri: functions/charge/\n",
		"      CodeUri: functions/charge/\n      VpcConfig: {SubnetIds: [subnet-1]}\n", "has the property VpcConfig",
	},
	{
		"deployments at once", "      DeploymentPreference:\n",
		"      DeploymentPreference:\n        Enabled: false\n", "has the property Enabled",
	},
	{"timeouts that nobody reports", "SystemLogLevel: INFO", "SystemLogLevel: WARN", "SystemLogLevel is WARN"},
}
