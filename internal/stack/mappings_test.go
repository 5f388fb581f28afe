package stack

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mapped is a template whose function is invoked by an EventSourceMapping
// resource. The cases below break it in one place each.
const mapped = `Resources:
  Jobs:
    Type: AWS::SQS::Queue
  Stock:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  Worker:
    Type: AWS::Serverless::Function
    Metadata: {BuildMethod: go1.x}
    Properties:
      CodeUri: code
      Handler: bootstrap
      Runtime: provided.al2023
      PackageType: Zip
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      FunctionName: !Ref Worker
      EventSourceArn: !GetAtt Jobs.Arn
      FilterCriteria:
        Filters:
          - Pattern: '{"body":{"kind":["order"]}}'
`

const pattern = `'{"body":{"kind":["order"]}}'`

var brokenMappings = []brokenCase{
	{
		"queue missing", "      EventSourceArn: !GetAtt Jobs.Arn\n", "",
		":15: Feed: EventSourceArn is missing: write !GetAtt QUEUE.Arn (queues: Jobs, Stock)",
	},
	{
		"queue by URL", "!GetAtt Jobs.Arn", "!GetAtt Jobs.QueueUrl",
		`:19: Feed: EventSourceArn "https://sqs.us-east-1.amazonaws.com/123456789012/Jobs" ` +
			"is not the ARN of a queue of this template (Jobs, Stock): write !GetAtt QUEUE.Arn",
	},
	{
		"only queue is elsewhere", "!GetAtt Jobs.Arn", "arn:aws:sqs:us-east-1:123456789012:Lost",
		`:19: Feed: EventSourceArn "arn:aws:sqs:us-east-1:123456789012:Lost" ` +
			"is not the ARN of a queue of this template (Jobs, Stock): write !GetAtt QUEUE.Arn",
	},
	{
		"only queue is imported", "!GetAtt Jobs.Arn", "!ImportValue jobs",
		":19: Fn::ImportValue needs AWS: replace it by a parameter and give that a value",
	},
	{
		"FIFO queue with a window", "!GetAtt Jobs.Arn", "!GetAtt Stock.Arn\n      MaximumBatchingWindowInSeconds: 1",
		":20: Feed: MaximumBatchingWindowInSeconds: a FIFO queue allows no window: remove it",
	},
	{
		"FIFO queue with a large batch", "!GetAtt Jobs.Arn", "!GetAtt Stock.Arn\n      BatchSize: 11",
		":20: Feed: BatchSize 11: a FIFO queue allows 10",
	},
	{
		"property of an event", "EventSourceArn: !GetAtt", "Queue: !GetAtt",
		":15: Feed: EventSourceArn is missing: write !GetAtt QUEUE.Arn (queues: Jobs, Stock)",
	},
	{
		"property of a stream", "FunctionName: !Ref Worker", "FunctionName: !Ref Worker\n      StartingPosition: LATEST",
		`:19: Feed: no property "StartingPosition" on an SQS event: correct its name or remove it`,
	},
	{
		"function missing", "      FunctionName: !Ref Worker\n", "",
		": no function with an SQS event: give an AWS::Serverless::Function an event of Type: SQS",
	},
	{
		"function not there", "FunctionName: !Ref Worker", "FunctionName: !Ref Lost",
		":18: Ref Lost: no such parameter or resource: add it, or correct the name",
	},
	{
		"pattern is a mapping", pattern, "{body: [a]}",
		":22: Feed: FilterCriteria: Filters: Pattern: a list or mapping where a text is needed",
	},
	{
		"pattern is not JSON", pattern, "order",
		`:22: Feed: FilterCriteria: Filters: Pattern: filter pattern: not JSON: ` +
			`write an object such as {"body":{"type":["order"]}}`,
	},
	{
		"pattern of attributes", pattern, `'{"attributes":{"a":["b"]}}'`,
		`:22: Feed: FilterCriteria: Filters: Pattern: filter pattern: "attributes" cannot be filtered: ` +
			`on SQS it is the body alone, as in {"body":…}`,
	},
	{
		"pattern with a wrong rule", pattern, `'{"body":{"a":[{"like":"b"}]}}'`,
		`:22: Feed: FilterCriteria: Filters: Pattern: filter pattern: body.a: no rule "like": there are ` +
			"anything-but, equals-ignore-case, exists, numeric, prefix, suffix, wildcard",
	},
	{
		"no pattern", "Pattern: " + pattern, "{}",
		":22: Feed: FilterCriteria: Filters: Pattern: filter pattern: not JSON: " +
			`write an object such as {"body":{"type":["order"]}}`,
	},
	{
		"six patterns", "- Pattern: " + pattern, strings.Repeat(`- Pattern: '{"body":["a"]}'`+"\n          ", 6),
		":22: Feed: FilterCriteria: Filters: 6 filter patterns: Lambda takes at most 5",
	},
	{
		"filters are a mapping", "          - Pattern: ", "          Pattern: ",
		":22: Feed: FilterCriteria: Filters must be a list",
	},
	{
		"only function is of another language", "Runtime: provided.al2023", "Runtime: nodejs22.x",
		`:13: Worker: Runtime "nodejs22.x": only Go functions, with provided.al2023, are built and run here`,
	},
	{
		"no runtime", "      Runtime: provided.al2023\n", "",
		`:7: Worker: Runtime is missing: write provided.al2023 for a Go function`,
	},
	{
		"only function is an image", "PackageType: Zip", "PackageType: Image",
		":14: Worker: PackageType Image: only a Zip is built and run here",
	},
	{
		"only function is built by another tool", "BuildMethod: go1.x", "BuildMethod: rust-cargolambda",
		`:7: Worker: BuildMethod "rust-cargolambda" does not build Go: write go1.x or makefile`,
	},
	{
		"metadata is a list", "{BuildMethod: go1.x}", "[a]",
		":9: Worker: Metadata must be a mapping",
	},
}

func TestInvalidMappingsAreRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "template.yaml")
	for _, tt := range brokenMappings {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if strings.Count(mapped, tt.old) != 1 {
				t.Fatalf("%q is %d times in the template", tt.old, strings.Count(mapped, tt.old))
			}
			_, err := parseSAM(file, strings.Replace(mapped, tt.old, tt.new, 1), nil)
			if err == nil {
				t.Fatalf("no error, want %s", tt.want)
			}
			if got := strings.TrimPrefix(err.Error(), file); got != tt.want {
				t.Errorf("error\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// What an event says changes what is polled, each part of it.
func TestAnEventIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	read := func(properties string) SQSEvent {
		t.Helper()
		text := strings.Replace(mapped, "!GetAtt Jobs.Arn", "!GetAtt Jobs.Arn"+properties, 1)
		s, err := parseSAM("testdata/template.yaml", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.Functions[0].Events[0]
	}
	plain := read("")
	if !plain.Enabled || plain.ReportBatchItemFailures {
		t.Errorf("without a word: %+v, want enabled, and no ReportBatchItemFailures", plain)
	}
	for properties, change := range map[string]func(*SQSEvent){
		"Enabled: false": func(e *SQSEvent) { e.Enabled = false },
		"FunctionResponseTypes: [ReportBatchItemFailures]": func(e *SQSEvent) { e.ReportBatchItemFailures = true },
		"MaximumBatchingWindowInSeconds: 7":                func(e *SQSEvent) { e.Window = 7 * time.Second },
		"BatchSize: 3":                                     func(e *SQSEvent) { e.BatchSize = 3 },
		"ScalingConfig: {MaximumConcurrency: 4}":           func(e *SQSEvent) { e.MaximumConcurrency = 4 },
	} {
		want := plain
		change(&want)
		if diff := cmp.Diff(want, read("\n      "+properties)); diff != "" {
			t.Errorf("%s: event (-want +got):\n%s", properties, diff)
		}
	}
}

func TestMappingWithAFalseConditionIsSkipped(t *testing.T) {
	t.Parallel()
	text := "Conditions: {Never: !Equals [a, b]}\n" + mapped + strings.Replace(
		from(mapped, "  Feed:"), "Feed:\n", "Second:\n    Condition: Never\n", 1)
	s, err := parseSAM("testdata/template.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if events := s.Functions[0].Events; len(events) != 1 || events[0].Name != "Feed" {
		t.Errorf("events %+v, want Feed", events)
	}
}

// TestPlaceholdersAreForVariablesOnly checks that values read after the variables
// get no placeholders.
func TestPlaceholdersAreForVariablesOnly(t *testing.T) {
	t.Parallel()
	second := strings.Replace(from(sound, "  Worker:"), "Timeout: 10", "Timeout: !Ref Topic", 1)
	text := strings.Replace(sound, "VALUE: plain", "VALUE: !Ref Topic", 1) + strings.Replace(second, "Worker", "Second", 1)
	_, err := parseSAM("testdata/template.yaml", text, nil)
	want := "testdata/template.yaml:45: Ref Topic: AWS::SNS::Topic exists in AWS only: " +
		"replace it by a parameter and give that a value"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestMappingIsFoundByFunctionName(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:lambda:us-east-1:123456789012:function:"
	for name, want := range map[string]bool{
		"Worker": true, "Worker:live": true, arn + "Worker": true, arn + "Worker:7": true,
		"Work": false, "Worker2": false, arn + "Worker2": false, "feed": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(mapped, "!Ref Worker", name, 1)
			text += strings.Replace(from(mapped, "  Feed:"), "Feed:", "Second:", 1)
			s, err := parseSAM("testdata/template.yaml", text, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range s.Functions[0].Events {
				got = append(got, e.Name)
			}
			events, notes := []string{"Feed", "Second"}, []string(nil)
			if !want {
				events = events[1:]
				notes = []string{"testdata/template.yaml:15: Feed is left alone: its FunctionName \"" + name +
					"\" is no AWS::Serverless::Function of this template"}
			}
			if diff := cmp.Diff(events, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(notes, s.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// from returns the part of a template that begins with a text.
func from(template, begin string) string {
	_, after, _ := strings.Cut(template, begin)
	return begin + after
}
