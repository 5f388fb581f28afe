package stack

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// withProperties returns the template sound with these properties for its
// dead-letter queue, in flow style.
func withProperties(properties string) string {
	return strings.Replace(sound, "  Dead:\n    Type: AWS::SQS::Queue\n",
		"  Dead:\n    Type: AWS::SQS::Queue\n    Properties: "+properties+"\n", 1)
}

func TestQueueAttributes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		properties string
		want       map[string]string
	}{
		{"{}", map[string]string{}},
		{"{DelaySeconds: 900, MaximumMessageSize: 1048576, MessageRetentionPeriod: 1209600}",
			map[string]string{"DelaySeconds": "900", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "1209600"}},
		{"{DelaySeconds: 0, MaximumMessageSize: 1024, MessageRetentionPeriod: 60}",
			map[string]string{"DelaySeconds": "0", "MaximumMessageSize": "1024", "MessageRetentionPeriod": "60"}},
		{`{VisibilityTimeout: "43200", ReceiveMessageWaitTimeSeconds: "20"}`,
			map[string]string{"VisibilityTimeout": "43200", "ReceiveMessageWaitTimeSeconds": "20"}},
		{`{SqsManagedSseEnabled: "true", FifoQueue: !Ref AWS::NoValue}`, map[string]string{"SqsManagedSseEnabled": "true"}},
		{"{KmsMasterKeyId: !ImportValue key, KmsDataKeyReusePeriodSeconds: 60, Tags: [{Key: a, Value: b}]}",
			map[string]string{}},
		{"{VisibilityTimeout: !Ref AWS::NoValue}", map[string]string{}},
		{"{RedriveAllowPolicy: {redrivePermission: byQueue, sourceQueueArns: [!Sub 'arn:${Mode}', !Ref 'AWS::NoValue']}}",
			map[string]string{"RedriveAllowPolicy": `{"redrivePermission":"byQueue","sourceQueueArns":["arn:fast"]}`}},
		{"!If [Slow, {DelaySeconds: 1}, {DelaySeconds: 2}]", map[string]string{"DelaySeconds": "2"}},
	}
	for _, tt := range tests {
		t.Run(tt.properties, func(t *testing.T) {
			t.Parallel()
			s, err := parseSAM(filepath.Join("testdata", "template.yaml"), withProperties(tt.properties), nil)
			if err != nil {
				t.Fatal(err)
			}
			dead, _ := s.Queue("Dead")
			if diff := cmp.Diff(tt.want, dead.Attributes); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNumbersOfAQueueOutOfRangeAreRefused tests values just outside of the limits of SQS.
func TestNumbersOfAQueueOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "template.yaml")
	for _, a := range queueNumbers {
		for _, wrong := range []string{fmt.Sprint(a.low - 1), fmt.Sprint(a.high + 1), "soon", "1.5"} {
			_, err := parseSAM(file, withProperties("{"+a.name+": "+wrong+"}"), nil)
			want := fmt.Sprintf("%s:18: Dead: %s %q: a whole number from %d to %d is needed", file, a.name, wrong, a.low, a.high)
			if err == nil || err.Error() != want {
				t.Errorf("error %v\n want %s", err, want)
			}
		}
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	const old = `    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
`
	tests := []struct {
		name, resource string
		want           Table
	}{
		{"one key", old, Table{Keys: []Key{{"id", "HASH"}}, Attributes: []Attribute{{"id", "S"}}}},
		{
			"two keys, an index and an expiry time", `    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: pk, KeyType: HASH}, {AttributeName: sk, KeyType: RANGE}]
      AttributeDefinitions:
        - {AttributeName: sk, AttributeType: N}
        - {AttributeName: pk, AttributeType: B}
        - {AttributeName: other, AttributeType: S}
      GlobalSecondaryIndexes: [{IndexName: other}]
      TimeToLiveSpecification: {AttributeName: until, Enabled: true}
`, Table{
				Keys:       []Key{{"pk", "HASH"}, {"sk", "RANGE"}},
				Attributes: []Attribute{{"sk", "N"}, {"pk", "B"}}, TTLAttribute: "until",
			},
		},
		{
			"simple", "    Type: AWS::Serverless::SimpleTable\n",
			Table{Keys: []Key{{"id", "HASH"}}, Attributes: []Attribute{{"id", "S"}}},
		},
		{
			"simple with a key", `    Type: AWS::Serverless::SimpleTable
    Properties: {PrimaryKey: {Name: number, Type: Number}}
`, Table{Keys: []Key{{"number", "HASH"}}, Attributes: []Attribute{{"number", "N"}}},
		},
		{
			"simple with a key of the usual type", `    Type: AWS::Serverless::SimpleTable
    Properties: {PrimaryKey: {Name: number}}
`, Table{Keys: []Key{{"number", "HASH"}}, Attributes: []Attribute{{"number", "S"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(sound, old, tt.resource, 1)
			s, err := parseSAM(filepath.Join("testdata", "template.yaml"), text, nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.LogicalID, tt.want.Name = "Ledger", "Ledger"
			tt.want.ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/Ledger"
			if diff := cmp.Diff([]Table{tt.want}, s.Tables); diff != "" {
				t.Errorf("tables (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListsOfParameters(t *testing.T) {
	t.Parallel()
	const open = "Open: {Type: String}"
	tests := []struct{ name, parameter, given, want string }{
		{"comma-delimited", "Open: {Type: CommaDelimitedList, Default: 'a, b'}", "", "a|b"},
		{"numbers", "Open: {Type: List<Number>, Default: '1,2'}", "", "1|2"},
		{"of AWS", "Open: {Type: List<AWS::EC2::Subnet::Id>}", "s-1,s-2", "s-1|s-2"},
		{"one item", "Open: {Type: CommaDelimitedList}", "a", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			options := &Options{}
			if tt.given != "" {
				options.Parameters = map[string]string{"Open": tt.given}
			}
			text := strings.Replace(sound, open, tt.parameter, 1)
			text = strings.Replace(text, "VALUE: plain", `VALUE: !Join ["|", !Ref Open]`, 1)
			s, err := parseSAM(filepath.Join("testdata", "template.yaml"), text, options)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Functions[0].Environment["VALUE"]; got != tt.want {
				t.Errorf("VALUE = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFunctionsWithWrongArgumentsAreRefused covers every intrinsic function that is read.
func TestFunctionsWithWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "template.yaml")
	tests := map[string]string{
		"!Join [a]":                 "Fn::Join takes a list of 2",
		"!Join text":                "Fn::Join takes a list of 2",
		"!Select [0]":               "Fn::Select takes a list of 2",
		"!Select [x, [a]]":          `Fn::Select: no item "x" in a list of 1: count from 0`,
		"!Select [-1, [a]]":         `Fn::Select: no item "-1" in a list of 1: count from 0`,
		`!Join ["", !Split [","]]`:  "Fn::Split takes a list of 2",
		"!FindInMap [Sizes, small]": "Fn::FindInMap takes a list of 3",
		`!Sub ["${A}"]`:             "Fn::Sub takes a list of 2",
		`!Sub [[a], {}]`:            "Fn::Sub takes a text, or a list of a text and its variables",
		`!Sub ["${A}", {A: [b]}]`:   "Fn::Sub variable A: a list or mapping where a text is needed",
		`!Sub "${AWS::Nothing}"`: "Fn::Sub AWS::Nothing: no such parameter or resource: " +
			"add it, or correct the name",
		`!Join [!Ref "AWS::NoValue", [a]]`: "Fn::Join: AWS::NoValue cannot stand here: write a text",
		`!GetAtt [Jobs]`:                   "Fn::GetAtt takes a resource and an attribute, as in ChargeQueue.Arn",
		`!If [[a], b, c]`:                  `condition "": no such condition: add it to Conditions, or correct the name`,
	}
	for expression, want := range tests {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(sound, "VALUE: plain", "VALUE: "+expression, 1)
			_, err := parseSAM(file, text, nil)
			if want = file + ":32: " + want; err == nil || err.Error() != want {
				t.Errorf("error %v\n want %s", err, want)
			}
		})
	}
}

// TestOwnVariablesOverrideGlobalOnes generates global and own variables.
func TestOwnVariablesOverrideGlobalOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		variables := rapid.MapOfN(rapid.StringMatching(`[A-F]_`), rapid.StringMatching(`[a-z]{1,4}`), 0, 5)
		global, own := variables.Draw(t, "global"), variables.Draw(t, "own")
		want := map[string]string{}
		for _, layer := range []map[string]string{global, own} {
			maps.Copy(want, layer)
		}
		text := withGlobals("{Environment: {Variables: " + flow(global) + "}}")
		text = strings.Replace(text, "{VALUE: plain}", flow(own), 1)
		s, err := parseSAM(filepath.Join("testdata", "template.yaml"), text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Functions[0].Environment); diff != "" {
			t.Fatalf("variables (-want +got):\n%s", diff)
		}
	})
}

func flow(variables map[string]string) string {
	var list []string
	for name, value := range variables {
		list = append(list, fmt.Sprintf("%s: %q", name, value))
	}
	return "{" + strings.Join(list, ", ") + "}"
}
