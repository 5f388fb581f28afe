package stack

import (
	"regexp"
	"strings"
	"testing"
)

// parseSAM parses a template, which gets the transform that functions need if it names
// none. Its lines stay where they are.
func parseSAM(file, text string, o *Options) (*Stack, error) {
	switch {
	case namesTransform.MatchString(text):
	case strings.HasPrefix(strings.TrimSpace(text), "{"):
		text = strings.Replace(text, "{", `{"Transform": "AWS::Serverless-2016-10-31",`, 1)
	default:
		text += "\nTransform: AWS::Serverless-2016-10-31\n"
	}
	return parse(file, []byte(text), o)
}

var namesTransform = regexp.MustCompile(`(?m)^(\{ *"Transform"|Transform:)`)

func TestWhatNeedsATransform(t *testing.T) {
	t.Parallel()
	const resources = `
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  Work:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: provided.al2023
      Handler: bootstrap
      CodeUri: .
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn}}}
`
	const loops = "  Fn::ForEach::Each: [Name, [A], {'${Name}Queue': {Type: AWS::SQS::Queue}}]\n"
	for name, tt := range map[string]struct{ text, want string }{
		"a text":              {"Transform: AWS::Serverless-2016-10-31" + resources, ""},
		"a list":              {"Transform: [AWS::LanguageExtensions, AWS::Serverless-2016-10-31]" + resources + loops, ""},
		"none":                {resources, ":4: Work: an AWS::Serverless type needs Transform: AWS::Serverless-2016-10-31"},
		"another":             {"Transform: AWS::LanguageExtensions" + resources, ":4: Work: an AWS::Serverless type needs"},
		"none for a loop":     {"Transform: AWS::Serverless-2016-10-31" + resources + loops, ":11: Fn::ForEach::Each: Fn::ForEach needs Transform: AWS::LanguageExtensions"}, //nolint:lll // a row
		"one with parameters": {"Transform: [{Name: AWS::Include, Parameters: {Location: x}}, AWS::Serverless-2016-10-31]" + resources, ""},                                  //nolint:lll // a row
	} {
		_, err := parse("t.yaml", []byte(tt.text), nil)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
}

func TestWhatHasNoEffectIsSaid(t *testing.T) {
	t.Parallel()
	const text = `
Transform: AWS::Serverless-2016-10-31
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  Work:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: provided.al2023
      Handler: bootstrap
      CodeUri: .
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn}}}
      PROPERTY
`
	for property, want := range map[string]string{
		"ReservedConcurrentExecutions: 0":                           "of 0 has no effect here; in AWS the function never",
		"ReservedConcurrentExecutions: 5":                           "has no effect here; the MaximumConcurrency",
		"DurableConfig: {ExecutionTimeout: 60}":                     "has no effect here: an invocation is",
		"DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Jobs.Arn}": "has no effect here: it is for async",
		"Layers: [arn]":            "Layers has no effect here: build",
		"MemorySize: 512":          "",
		"RecursiveLoop: Terminate": "",
		"ReservedConcurrentExecutions: !Ref AWS::NoValue": "",
	} {
		s, err := parse("t.yaml", []byte(strings.Replace(text, "PROPERTY", property, 1)), nil)
		if err != nil {
			t.Fatalf("%s: %v", property, err)
		}
		notes := strings.Join(s.Notes, "\n")
		if want == "" && notes != "" || !strings.Contains(notes, want) {
			t.Errorf("%s: notes %q, want %q", property, notes, want)
		}
	}
	tenants := strings.Replace(text, "PROPERTY", "TenancyConfig: {TenantIsolationMode: PER_TENANT}", 1)
	_, err := parse("t.yaml", []byte(tenants), nil)
	if err == nil || !strings.Contains(err.Error(), ":12: Work: TenancyConfig: Lambda takes no event source mapping") {
		t.Errorf("tenants: error %v", err)
	}
}

// TestFunctionsThatALoopWouldMake are in a loop over what is known in AWS only.
func TestFunctionsThatALoopWouldMake(t *testing.T) {
	t.Parallel()
	const text = `
Transform: [AWS::LanguageExtensions, AWS::Serverless-2016-10-31]
Parameters: {Names: {Type: CommaDelimitedList}}
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  Fn::ForEach::Each:
    - Name
    - !Ref Names
    - Work${Name}: {Type: AWS::Serverless::Function, Properties: {CodeUri: ., Runtime: provided.al2023}}
`
	_, err := parse("t.yaml", []byte(text), nil)
	const want = ":6: Fn::ForEach::Each: what it goes through is known in AWS only: let it"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one about the loop", err)
	}
}
