package stack

import (
	"path/filepath"
	"strings"
	"testing"
)

// sound is a valid template. Each case of TestInvalidTemplatesAreRefused breaks it in one place.
const sound = `Parameters:
  Wait: {Type: Number, Default: 60, MinValue: 30, MaxValue: 300}
  Mode: {Type: String, Default: fast, AllowedPattern: "[a-z]+", ConstraintDescription: small letters}
  Key: {Type: String, NoEcho: true, MinLength: 4, Default: long enough}
  Open: {Type: String}
Mappings:
  Sizes: {small: {memory: 128}}
Conditions: {Fast: !Equals [!Ref Mode, fast], Slow: !Not [!Condition Fast],
  Loop: !Not [!Condition Loop]}
Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: !Ref Wait
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
  Dead:
    Type: AWS::SQS::Queue
  Ledger:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
  Topic:
    Type: AWS::SNS::Topic
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: code
      Handler: bootstrap
      Runtime: provided.al2023
      Timeout: 10
      Environment: {Variables: {VALUE: plain}}
      Events:
        Jobs:
          Type: SQS
          Properties:
            Queue: !GetAtt Jobs.Arn
            BatchSize: 10
`

type brokenCase struct {
	name     string
	old, new string
	// want is the error message after the file's name, with the line if there
	// is one; empty if the broken part is not used.
	want string
}

var brokenReferences = []brokenCase{
	{
		"Ref of an unknown name", "VALUE: plain", "VALUE: !Ref Lost",
		":32: Ref Lost: no such parameter or resource: add it, or correct the name",
	},
	{
		"Ref without a name", "VALUE: plain", "VALUE: !Ref [a]",
		":32: Ref takes the name of a parameter or resource",
	},
	{
		"Ref of what is in AWS", "Timeout: 10", "Timeout: !Ref Topic",
		":31: Ref Topic: AWS::SNS::Topic exists in AWS only: replace it by a parameter and give that a value",
	},
	{
		"GetAtt of an unknown resource", "VALUE: plain", "VALUE: !GetAtt Lost.Arn",
		":32: Fn::GetAtt Lost: no such resource: name one of the template's own",
	},
	{
		"GetAtt without attribute", "VALUE: plain", "VALUE: !GetAtt Jobs",
		":32: Fn::GetAtt takes a resource and an attribute, as in ChargeQueue.Arn",
	},
	{
		"GetAtt of what is in AWS", "Timeout: 10", "Timeout: !GetAtt Ledger.StreamArn",
		":31: Fn::GetAtt Ledger.StreamArn: AWS::DynamoDB::Table has it in AWS only: " +
			"replace it by a parameter and give that a value",
	},
	{
		"GetAtt of an unknown attribute", "VALUE: plain", "VALUE: !GetAtt Jobs.Url",
		":32: Fn::GetAtt Jobs.Url: a queue has Arn, QueueName and QueueUrl: correct the name",
	},
	{
		"function without a placeholder", "VALUE: plain", "VALUE: !Base64 text",
		":32: Fn::Base64 needs AWS: replace it by a parameter and give that a value",
	},
	{
		"variable of what is in AWS", "VALUE: plain", "VALUE: !Ref Topic", "",
	},
	{
		"GetAtt of a resource with a false condition", "  Dead:\n", "  Dead:\n    Condition: Slow\n",
		":15: Fn::GetAtt Dead: the resource is left out by its condition: use Fn::If with the same condition",
	},
	{
		"Sub of an unknown name", "VALUE: plain", `VALUE: !Sub "${Jobs} ${Lost}"`,
		":32: Fn::Sub Lost: no such parameter or resource: add it, or correct the name",
	},
	{
		"Sub of an attribute of an unknown resource", "VALUE: plain", `VALUE: !Sub "${Lost.Arn}"`,
		":32: Fn::Sub Lost: no such resource: name one of the template's own",
	},
	{
		"Sub of a mapping", "VALUE: plain", "VALUE: !Sub {a: b}",
		":32: Fn::Sub takes a text, or a list of a text and its variables",
	},
	{
		"ImportValue", "Timeout: 10", "Timeout: !ImportValue other",
		":31: Fn::ImportValue needs AWS: replace it by a parameter and give that a value",
	},
	{
		"parameter without value", "VALUE: plain", "VALUE: !Ref Open",
		":5: parameter Open has no value and no Default: give it one, as in Open=VALUE",
	},
	{
		"FindInMap of an unknown map", "VALUE: plain", "VALUE: !FindInMap [Sizes, large, memory]",
		":32: Fn::FindInMap Sizes.large.memory: not in Mappings: add it, or correct the keys",
	},
	{
		"Select out of range", "VALUE: plain", "VALUE: !Select [2, [a, b]]",
		`:32: Fn::Select: no item "2" in a list of 2: count from 0`,
	},
	{
		"Split with an empty separator", "VALUE: plain", `VALUE: !Select [0, !Split ["", "a b"]]`,
		":32: Fn::Split: the separator is empty: write one",
	},
	{
		"Join of a text", "VALUE: plain", "VALUE: !Join [',', text]",
		":32: Fn::Join must be a list",
	},
	{
		"If of two", "VALUE: plain", "VALUE: !If [Fast, a]",
		":32: Fn::If takes a list of 3",
	},
	{
		"If without condition", "VALUE: plain", "VALUE: !If [Warm, a, b]",
		`:32: condition "Warm": no such condition: add it to Conditions, or correct the name`,
	},
	{
		"condition in a cycle", "VALUE: plain", "VALUE: !If [Loop, a, b]",
		":9: condition Loop depends on itself: break the circle",
	},
	{
		"unknown condition", "  Dead:\n", "  Dead:\n    Condition: Wrong\n",
		`:17: condition "Wrong": no such condition: add it to Conditions, or correct the name`,
	},
	{
		"condition of another kind", "!Equals [!Ref Mode, fast]", "!Ref Mode", "",
	},
	{
		"unneeded parameter in AWS", "Open: {Type: String}",
		"Open: {Type: AWS::SSM::Parameter::Value<String>, Default: /a}", "",
	},
	{
		"name in a cycle", "      VisibilityTimeout: !Ref Wait", "      QueueName: !GetAtt Jobs.QueueName",
		":11: Jobs: its name depends on itself: give it a name without a reference",
	},
}

var brokenValues = []brokenCase{
	{
		"value is a list", "VALUE: plain", "VALUE: [a]",
		":32: Worker: Environment: Variables: VALUE: a list or mapping where a text is needed",
	},
	{
		"value is empty", "VALUE: plain", "VALUE: ",
		`:32: Worker: Environment: Variables: VALUE has no value: write one, or "" for an empty text`,
	},
	{
		"timeout out of range", "Timeout: 10", "Timeout: 901",
		`:31: Worker: Timeout "901": a whole number from 1 to 900 is needed`,
	},
	{
		"timeout above visibility", "Timeout: 10", "Timeout: 61",
		":31: Worker: Timeout of 1m1s is above the VisibilityTimeout of Jobs, 1m0s: raise that to six times the Timeout",
	},
	{
		"runtime", "provided.al2023", "go1.x",
		`:30: Worker: Runtime "go1.x" has been retired by Lambda: write provided.al2023, and Handler: bootstrap`,
	},
	{
		"a FIFO queue that is none", "VisibilityTimeout: !Ref Wait", "FifoQueue: false",
		":14: Jobs: FifoQueue false: SQS takes only true: remove it, or use AWS::NoValue in its place",
	},
	{
		"no CodeUri", "      CodeUri: code\n", "",
		":25: Worker: CodeUri is missing: name the folder of the function's main package",
	},
	{
		"CodeUri not there", "CodeUri: code", "CodeUri: lost/",
		`:28: Worker: CodeUri "lost/": no such folder: name the one of the function's main package`,
	},
	{
		"CodeUri is a file", "CodeUri: code", "CodeUri: code/main.go",
		`:28: Worker: CodeUri "code/main.go" is not a folder: name the one of the function's main package`,
	},
	{
		"CodeUri in S3", "CodeUri: code", "CodeUri: s3://bucket/code.zip",
		`:28: Worker: CodeUri "s3://bucket/code.zip" is in S3: name a folder on this machine`,
	},
	{
		"properties are a list", "    Type: AWS::SQS::Queue\n  Ledger",
		"    Type: AWS::SQS::Queue\n    Properties: [a]\n  Ledger",
		":18: Dead must be a mapping",
	},
	{
		"queue name", "    Type: AWS::SQS::Queue\n  Ledger",
		"    Type: AWS::SQS::Queue\n    Properties: {QueueName: a b}\n  Ledger",
		`:18: Dead: QueueName "a b": a name is at most 80 letters, digits, and _ -, with .fifo at the end of a FIFO queue's`,
	},
	{
		"standard queue called fifo", "    Type: AWS::SQS::Queue\n  Ledger",
		"    Type: AWS::SQS::Queue\n    Properties: {QueueName: dead.fifo}\n  Ledger",
		`:18: Dead: QueueName "dead.fifo": a name ends in .fifo where FifoQueue is true, and only there`,
	},
	{
		"dead-letter queue of the other type", "    Type: AWS::SQS::Queue\n  Ledger",
		"    Type: AWS::SQS::Queue\n    Properties: {FifoQueue: true}\n  Ledger",
		":15: Jobs: redrive target Dead is of the other type: both must be FIFO queues, or neither",
	},
	{
		"two queues of one name", "    Type: AWS::SQS::Queue\n  Ledger",
		"    Type: AWS::SQS::Queue\n  More: {Type: AWS::SQS::Queue, Properties: {QueueName: Dead}}\n  Ledger",
		":18: More: Dead has the name Dead as well: names must differ",
	},
	{
		"flag", "VisibilityTimeout: !Ref Wait", "FifoQueue: maybe",
		`:14: Jobs: FifoQueue "maybe": true or false is needed`,
	},
	{
		"redrive target outside", "!GetAtt Dead.Arn", "arn:aws:sqs:us-east-1:123456789012:lost",
		`:15: Jobs: redrive target "arn:aws:sqs:us-east-1:123456789012:lost" is no queue of this template (Jobs, Dead): ` +
			"write !GetAtt QUEUE.Arn",
	},
	{
		"redrive policy without count", ", maxReceiveCount: 5", "",
		":15: Jobs: RedrivePolicy needs deadLetterTargetArn and maxReceiveCount",
	},
	{
		"redrive policy as JSON", "{deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}", "'{}'",
		":15: Jobs: RedrivePolicy must be a mapping",
	},
	{
		"table without key", "KeyType: HASH", "KeyType: RANGE",
		":21: Ledger: KeySchema: a table has one HASH key, then at most one RANGE key",
	},
	{
		"key without definition", "AttributeDefinitions: [{AttributeName: id", "AttributeDefinitions: [{AttributeName: pk",
		`:22: Ledger: AttributeDefinitions: key "id" is not defined as S, N or B: add it`,
	},
	{
		"resource without type", "    Type: AWS::SNS::Topic\n", "    Properties: {}\n",
		":23: Topic has no Type: give it one, such as AWS::SQS::Queue",
	},
}

var brokenEvents = []brokenCase{
	{
		"no SQS event", "Type: SQS\n", "Type: Api\n",
		": no function with an SQS event: give an AWS::Serverless::Function an event of Type: SQS",
	},
	{
		"queue missing", "            Queue: !GetAtt Jobs.Arn\n", "",
		":34: Worker: event Jobs: Queue is missing: write !GetAtt QUEUE.Arn (queues: Jobs, Dead)",
	},
	{
		"queue by URL", "Queue: !GetAtt Jobs.Arn", "Queue: !Ref Jobs",
		`:37: Worker: event Jobs: Queue "https://sqs.us-east-1.amazonaws.com/123456789012/Jobs" ` +
			"is not the ARN of a queue of this template (Jobs, Dead): write !GetAtt QUEUE.Arn",
	},
	{
		"queue not in the template", "Queue: !GetAtt Jobs.Arn", "Queue: !GetAtt Lost.Arn",
		":37: Fn::GetAtt Lost: no such resource: name one of the template's own",
	},
	{
		"batch size", "BatchSize: 10", "BatchSize: 0",
		`:38: Worker: event Jobs: BatchSize "0": a whole number from 1 to 10000 is needed`,
	},
	{
		"large batch without window", "BatchSize: 10", "BatchSize: 11",
		":38: Worker: event Jobs: BatchSize 11: above 10 Lambda asks for a MaximumBatchingWindowInSeconds of at least 1",
	},
	{
		"misspelt property", "BatchSize: 10", "FunctionResponseType: [ReportBatchItemFailures]",
		`:38: Worker: event Jobs: no property "FunctionResponseType" on an SQS event: write FunctionResponseTypes`,
	},
	{
		"misspelt response type", "BatchSize: 10", "FunctionResponseTypes: [ReportBatchItemFailure]",
		`:38: Worker: event Jobs: FunctionResponseTypes "ReportBatchItemFailure": ReportBatchItemFailures is the only one`,
	},
	{
		"concurrency of one", "BatchSize: 10", "ScalingConfig: {MaximumConcurrency: 1}",
		`:38: Worker: event Jobs: ScalingConfig: MaximumConcurrency "1": a whole number from 2 to 1000 is needed`,
	},
}

var brokenText = []brokenCase{
	{"not YAML", "Mappings:", "Mappings: [", ":8: neither YAML nor JSON: did not find expected ',' or ']'"},
	{"given twice", "  Dead:\n", "  Jobs:\n", ":16: Jobs is given twice: remove one of the two"},
	{"key is a list", "VALUE: plain", "[a]: plain", ":32: a key must be a text"},
	{"section is a list", "  Sizes: {small: {memory: 128}}", "  - a", ":7: Mappings must be a mapping"},
	{"default out of range", "Default: 60", "Default: 29", `:2: parameter Wait: "29" is below its MinValue 30`},
	{"default above range", "Default: 60", "Default: 301", `:2: parameter Wait: "301" is above its MaxValue 300`},
	{"default is not a number", "Default: 60", "Default: soon", `:2: parameter Wait: "soon" is not a number`},
	{
		"default of another form", "Default: fast", "Default: Fast",
		`:3: parameter Mode: "Fast" does not match its AllowedPattern [a-z]+ (small letters)`,
	},
	{"secret too short", "Default: long enough", "Default: abc", `:4: parameter Key: (hidden) is below its MinLength 4`},
}

func TestInvalidTemplatesAreRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "template.yaml")
	for _, cases := range [][]brokenCase{
		brokenReferences, brokenValues, brokenEvents, brokenText, brokenNames, brokenVariables,
	} {
		for _, tt := range cases {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				if strings.Count(sound, tt.old) != 1 {
					t.Fatalf("%q is %d times in the sound template", tt.old, strings.Count(sound, tt.old))
				}
				_, err := parseSAM(file, strings.Replace(sound, tt.old, tt.new, 1), nil)
				if tt.want == "" {
					if err != nil {
						t.Fatalf("unexpected error: %v", err)
					}
					return
				}
				if err == nil {
					t.Fatalf("no error, want %s", tt.want)
				}
				if got := strings.TrimPrefix(err.Error(), file); got != tt.want {
					t.Errorf("error\n got %s\nwant %s", got, tt.want)
				}
			})
		}
	}
}
