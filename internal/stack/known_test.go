package stack

import (
	"fmt"
	"strings"
	"testing"
)

// brokenNames are cases with names that neither CloudFormation nor SAM has.
var brokenNames = []brokenCase{
	{
		"property of a queue", "VisibilityTimeout: !Ref Wait", "VisibilityTimout: 60",
		`:14: Jobs: no property "VisibilityTimout": write VisibilityTimeout`,
	},
	{
		"property of a queue by attribute", "VisibilityTimeout: !Ref Wait", "Policy: {}",
		`:14: Jobs: no property "Policy": correct its name or remove it`,
	},
	{
		"property of a queue in another case", "VisibilityTimeout: !Ref Wait", "fifoQueue: true",
		`:14: Jobs: no property "fifoQueue": write FifoQueue`,
	},
	{
		"property of a function", "      Timeout: 10", "      TimeOut: 10",
		`:31: Worker: no property "TimeOut": write Timeout`,
	},
	{"events of a function", "      Events:", "      Event:", `:33: Worker: no property "Event": write Events`},
	{
		"property brought by a transform", "      Timeout: 10",
		"      Fn::Transform: {Name: AWS::Include, Parameters: {Location: s3://bucket/more.yaml}}", "",
	},
	{
		"section of Globals", "Mappings:", "Globals: {Functions: {Timeout: 10}}\nMappings:",
		`:6: Globals: no section "Functions": write Function`,
	},
	{
		"section of Globals without any", "Mappings:", "Globals: {Queue: {DelaySeconds: 10}}\nMappings:",
		`:6: Globals: no section "Queue": correct its name or remove it`,
	},
	{
		"property in Globals", "Mappings:", "Globals: {Function: {Timeot: 10}}\nMappings:",
		`:6: Globals: Function: no property "Timeot": write Timeout`,
	},
	{
		"property that Globals cannot have", "Mappings:", "Globals: {Function: {FunctionName: one}}\nMappings:",
		`:6: Globals: Function: no property "FunctionName": correct its name or remove it`,
	},
	{
		"type of a parameter", "Open: {Type: String}", "Open: {Type: string}",
		`:5: parameter Open: no type "string": write String`,
	},
	{
		"type of a parameter, not similar to any", "Open: {Type: String}", "Open: {Type: Boolean}",
		`:5: parameter Open: no type "Boolean": correct its name or remove it`,
	},
	{
		"type of a resource", "  Dead:\n    Type: AWS::SQS::Queue", "  Dead:\n    Type: AWS::SQS::Queu",
		`:17: Dead: no resource type "AWS::SQS::Queu": write AWS::SQS::Queue`,
	},
	{
		"type of a resource in another case", "AWS::Serverless::Function", "AWS::ServerLess::Function",
		`:26: Worker: no resource type "AWS::ServerLess::Function": write AWS::Serverless::Function`,
	},
	{"type of a resource similar to another", "AWS::SNS::Topic", "AWS::SQS::QueuePolicy", ""},
	{"type of an event", "Type: SQS\n", "Type: Sqs\n", `:35: Worker: Events: Jobs: Type "Sqs": write SQS`},
	{
		"tag", "!GetAtt Jobs.Arn", "!Getatt Jobs.Arn",
		`:37: "!Getatt" is no function of CloudFormation: write !GetAtt`,
	},
	{
		"tag that is not similar to any", "!GetAtt Jobs.Arn", "!Environment QUEUE",
		`:37: "!Environment" is no function of CloudFormation: correct its name or remove it`,
	},
	{
		"function in its long form", "!GetAtt Jobs.Arn", "{Fn::Getatt: [Jobs, Arn]}",
		`:37: "Fn::Getatt" is no function of CloudFormation: write Fn::GetAtt`,
	},
	{
		"second event on a queue", "        Jobs:\n          Type: SQS\n",
		"        Also: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn}}\n        Jobs:\n          Type: SQS\n",
		":35: Worker: event Jobs is on Jobs as event Also is: a function has one event for a queue: remove one",
	},
}

// brokenVariables are cases with variable names that Lambda refuses.
var brokenVariables = []brokenCase{
	{
		"variable that Lambda sets", "VALUE: plain", "AWS_REGION: eu-west-1",
		":32: Worker: Environment: Variables: AWS_REGION is set by Lambda, which refuses it here: " +
			"remove it or choose another name",
	},
	{
		"variable with a hyphen", "VALUE: plain", "LOG-LEVEL: debug",
		`:32: Worker: Environment: Variables: "LOG-LEVEL": a name is two or more letters, digits, and _, ` +
			"with a letter first",
	},
	{
		"variable of one letter", "VALUE: plain", "V: plain",
		`:32: Worker: Environment: Variables: "V": a name is two or more letters, digits, and _, with a letter first`,
	},
	{
		"variable with _ first", "VALUE: plain", "_VALUE: plain",
		`:32: Worker: Environment: Variables: "_VALUE": a name is two or more letters, digits, and _, ` +
			"with a letter first",
	},
	{"variable of Lambda's that may be set", "VALUE: plain", "AWS_LAMBDA_EXEC_WRAPPER: /opt/wrapper", ""},
}

// TestKnownPropertiesAreAccepted checks that every property of a queue or function
// is accepted, also those that have no effect here.
func TestKnownPropertiesAreAccepted(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kindQueue, kindFunction} {
		for _, name := range knownProperties[kind] {
			more := fmt.Sprintf("Resources:\n  More: {Type: %s, Properties: {%s: !Ref AWS::NoValue}}\n", kind, name)
			text := strings.Replace(sound, "Resources:\n", more, 1)
			if _, err := parseSAM("testdata/template.yaml", text, nil); err != nil {
				t.Errorf("%s of %s: %v", name, kind, err)
			}
		}
	}
	for _, name := range globalFunctionProperties {
		text := withGlobals("{" + name + ": !Ref AWS::NoValue}")
		if _, err := parseSAM("testdata/template.yaml", text, nil); err != nil {
			t.Errorf("%s in Globals: %v", name, err)
		}
	}
}

func TestDynamicReferenceInAVariableIsNoted(t *testing.T) {
	t.Parallel()
	const value = "postgres://app:{{resolve:ssm-secure:/app/password:1}}@db"
	text := strings.Replace(sound, "VALUE: plain", "VALUE: '"+value+"'", 1)
	s, err := parseSAM("testdata/template.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Functions[0].Environment["VALUE"]; got != value {
		t.Errorf("VALUE is %q, want it as it stands", got)
	}
	const want = "testdata/template.yaml:32: Worker: Environment: Variables: VALUE: a dynamic reference needs AWS: " +
		`"{{resolve:ssm-secure:/app/password:1}}" stands in for it`
	if got := strings.Join(s.Notes, "\n"); !strings.Contains(got, want) {
		t.Errorf("notes %s\nwant %s", got, want)
	}
}
