package stackedit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sqsafe/sqsafe/internal/alarmset"
)

// atHand are the templates of the repository, and those of a folder beside it where
// there is one.
func atHand(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{
		"../../template.yaml", "../../docs/*.yaml", "testdata/*.yaml", "../*/testdata/*.yaml", "../*/testdata/*/*.yaml",
		"../*/testdata/*/template.json", "../../../shared/check/*.yaml", "../../../../shared/check/*.yaml",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) < 4 {
		t.Fatalf("templates %v, want more", all)
	}
	return all
}

var requests = []Request{
	whole, {Alarms: alarmset.Full, Traffic: true}, {Dashboard: true}, {Rollback: true},
	{Alarms: alarmset.Basic, Topic: "AlarmTopicArn"},
}

// holds checks what has to be true of every addition: all that was there is there in
// the same order, byte for byte, lines end as they did, and a second run adds nothing.
func holds(file string, text []byte, r Request) error {
	got, err := Add(file, text, r)
	if err != nil || got.Refused != nil {
		return nil //nolint:nilerr // nothing was changed
	}
	rest := got.Text
	for i, b := range text {
		at := bytes.IndexByte(rest, b)
		if at < 0 {
			return fmt.Errorf("byte %d of the template is gone", i)
		}
		rest = rest[at+1:]
	}
	crlf := bytes.Contains(text, []byte("\r\n"))
	if crlf && bytes.Count(got.Text, []byte("\n"))-bytes.Count(got.Text, []byte("\r\n")) >
		bytes.Count(text, []byte("\n"))-bytes.Count(text, []byte("\r\n")) || !crlf && bytes.Contains(got.Text, []byte("\r")) {
		return fmt.Errorf("line ends are mixed")
	}
	before, err := parse(file, text)
	if err != nil {
		return err
	}
	after, err := parse(file, got.Text)
	if err != nil {
		return err
	}
	if path := lost(before.root, after.root, ""); path != "" {
		return fmt.Errorf("%s has changed", path)
	}
	again, err := Add(file, got.Text, r)
	switch {
	case err != nil || again.Refused != nil:
		return fmt.Errorf("a second run: %w, %w", err, again.Refused)
	case len(again.Added) > 0 || !bytes.Equal(again.Text, got.Text):
		return fmt.Errorf("a second run adds %v", again.Added)
	}
	return nil
}

func TestAdditionsOnlyInsert(t *testing.T) {
	t.Parallel()
	edited := 0
	for _, path := range atHand(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		for i, r := range requests {
			if i > 0 && strings.Contains(path, "shared") {
				break // they differ little
			}
			for form, text := range map[string][]byte{
				"as it is": text, "with CRLF": crlf, "without an end of line": bytes.TrimRight(text, "\n"),
				"stripped": []byte(stripped(string(text))), "after a BOM": append([]byte("\xef\xbb\xbf"), text...),
			} {
				if err := holds(path, text, r); err != nil {
					t.Errorf("%s %s, %+v: %v", path, form, r, err)
				}
				got, err := Add(path, text, r)
				switch {
				case err != nil:
				case got.Refused != nil && !strings.HasSuffix(path, ".json") &&
					!strings.Contains(got.Refused.Error(), "is not a block of lines"):
					t.Errorf("%s %s, %+v: %v", path, form, r, got.Refused)
				case len(got.Added) > 0:
					edited++
				}
			}
		}
	}
	if edited < 20 {
		t.Errorf("%d templates were edited: the test shows too little", edited)
	}
}

// TestAdditionsOnlyInsertAmongComments puts comments and empty lines anywhere.
func TestAdditionsOnlyInsertAmongComments(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, path := range atHand(t) {
		texts = append(texts, stripped(read(t, path)))
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.SplitAfter(rapid.SampledFrom(texts).Draw(t, "template"), "\n")
		for range rapid.IntRange(0, 12).Draw(t, "comments") {
			at := rapid.IntRange(0, len(lines)).Draw(t, "line")
			line := strings.Repeat(" ", rapid.IntRange(0, 12).Draw(t, "indent"))
			if rapid.Bool().Draw(t, "comment") {
				line += "# Resources: {}"
			}
			lines = slices.Insert(lines, at, line+"\n")
		}
		text := []byte(strings.Join(lines, ""))
		if err := holds("template.yaml", text, rapid.SampledFrom(requests).Draw(t, "request")); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}

// small is a template that can be edited; replaced changes a part of it.
func replaced(t *testing.T, old, replacement string) []byte {
	t.Helper()
	text := read(t, "testdata/small.yaml")
	if !strings.Contains(text, old) {
		t.Fatalf("the template has no %q", old)
	}
	return []byte(strings.Replace(text, old, replacement, 1))
}

func TestWhatCannotBeEditedSafelyIsRefused(t *testing.T) {
	t.Parallel()
	braces := `{"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"RedrivePolicy": {"deadLetterTargetArn":
 {"Fn::GetAtt": ["D", "Arn"]}, "maxReceiveCount": 9}}}, "D": {"Type": "AWS::SQS::Queue"}, "F": {
 "Type": "AWS::Serverless::Function", "Properties": {"Events": {"E": {"Type": "SQS", "Properties": {"Queue":
 {"Fn::GetAtt": "Q.Arn"}}}}}}}}`
	for _, row := range []struct {
		name string
		text []byte
		want string
	}{
		{"JSON", []byte(braces), "only a block of YAML is edited"},
		{"two documents", append(replaced(t, "", ""), "\n---\na: b\n"...), ""},
		{"parameters in braces", replaced(t, "Parameters:\n  AlarmTopicArn: {Type: String, Description: SNS topic that "+
			"alarms go to.}\n", "Parameters: {AlarmTopicArn: {Type: String}}\n"), "Parameters is not a block of lines"},
		{"a carriage return", replaced(t, "    Timeout: 30\n", "    Timeout: 30 # a\r# b\n"), "carriage returns"},
	} {
		got, err := Add("t.yaml", row.text, Request{Alarms: alarmset.Basic})
		if err == nil {
			err = got.Refused
			if !strings.Contains(got.Printed, "ConsumerStalledAlarm: {") {
				t.Errorf("%s: nothing is printed to put in by hand: %q", row.name, got.Printed)
			}
		}
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want an error with %q", row.name, err, row.want)
		}
	}
}

func TestWhatIsWrongWithATemplate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text    []byte
		request Request
		want    string
	}{
		{[]byte("a: ["), whole, "neither YAML nor JSON"},
		{[]byte("- a\n"), whole, "not a template"},
		{[]byte("Resources: {}\n"), whole, "no function with an SQS event"},
		{replaced(t, "Queue: !GetAtt ChargeQueue.Arn", "Queue: arn:aws:sqs:eu-west-1:123456789012:jobs"), whole,
			"its queue is not a queue of this template"},
		{replaced(t, "{deadLetterTargetArn: !GetAtt ChargeDeadLetterQueue.Arn, maxReceiveCount: 30}", "{}"), whole,
			"ChargeQueue has no dead-letter queue"},
		{replaced(t, "  ChargeFunction:\n", "  ChargeFunction:\n    Condition: Live\n"), whole,
			"ChargeFunction has the Condition Live"},
		{replaced(t, "  ChargeDeadLetterQueue:\n", "  ChargeDeadLetterQueue:\n    Condition: Live\n"),
			Request{Alarms: alarmset.Basic, Workers: []string{"ChargeQueue"}}, "ChargeDeadLetterQueue has the Condition Live"},
		{replaced(t, "", ""), Request{Alarms: alarmset.Basic, Functions: []string{"Charge"}}, "it has ChargeFunction"},
		{replaced(t, "", ""), Request{Alarms: alarmset.Basic, Topic: "Nowhere"}, "no parameter or resource Nowhere"},
		{replaced(t, "", ""), Request{Alarms: alarmset.Basic, Workers: []string{"Jobs"}}, "Jobs is no queue"},
	} {
		if _, err := Add("t.yaml", row.text, row.request); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want an error with %q", err, row.want)
		}
	}
}

// What the template has stays as it is, and what it lacks goes to its own topic.
func TestAdditionsToASmallStack(t *testing.T) {
	t.Parallel()
	got, err := Add("t.yaml", replaced(t, "", ""), whole)
	if err != nil || got.Refused != nil {
		t.Fatal(err, got.Refused)
	}
	text := string(got.Text)
	for _, want := range []string{
		"      AutoPublishAlias: live\n      AutoPublishAliasAllProperties: true\n      DeploymentPreference:\n" +
			"        Type: !Ref DeploymentType\n" +
			"        Alarms: [!Ref ChargeNewVersionErrorsAlarm, !Ref ChargeNewVersionFloodAlarm]\n",
		"    UpdateReplacePolicy: Retain\n    Properties:\n      CodeUri: fn/\n",
		"            MetricsConfig: {Metrics: [EventCount]}\n",
		"AlarmActions: [!Ref AlarmTopicArn], OKActions: [!Ref AlarmTopicArn]",
		"\n  FloodThreshold: {Type: Number", "\nOutputs:\n  DashboardUrl:",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the result lacks %q:\n%s", want, text)
		}
	}
	for _, not := range []string{"HasOwnTopic", "Rules:"} {
		if strings.Contains(text, not) {
			t.Errorf("the result has %q, though the template has a topic", not)
		}
	}
	if slices.Contains(got.Added, "ChargeQueueAgeAlarm") || strings.Count(text, "ChargeQueueAgeAlarm:") != 1 {
		t.Errorf("the alarm that was there was replaced: added %v", got.Added)
	}
}

// An event in braces takes the metrics that an alarm needs.
func TestPropertiesInBraces(t *testing.T) {
	t.Parallel()
	text := replaced(t, "          Properties:\n            Queue: !GetAtt ChargeQueue.Arn\n"+
		"            BatchSize: 10\n            FunctionResponseTypes: [ReportBatchItemFailures]\n"+
		"            ScalingConfig: {MaximumConcurrency: 5}\n", "          Properties: {Queue: !GetAtt ChargeQueue.Arn}\n")
	got, err := Add("t.yaml", text, Request{Alarms: alarmset.Basic})
	if err != nil || got.Refused != nil {
		t.Fatal(err, got.Refused)
	}
	const want = "Properties: {MetricsConfig: {Metrics: [EventCount]}, Queue: !GetAtt ChargeQueue.Arn}\n"
	if !bytes.Contains(got.Text, []byte(want)) {
		t.Errorf("the result lacks %q:\n%s", want, got.Text)
	}
}

// A template that has a topic of its own gets no other.
func TestATopicThatIsThere(t *testing.T) {
	t.Parallel()
	text := bytes.ReplaceAll(replaced(t, "  AlarmTopicArn: {Type: String, Description: SNS topic that alarms go to.}\n",
		"  Unused: {Type: String}\n"), []byte("!Ref AlarmTopicArn"), []byte("!Ref AlarmTopic"))
	text = bytes.Replace(text, []byte("Resources:\n"), []byte("Resources:\n  AlarmTopic: {Type: AWS::SNS::Topic}\n"), 1)
	got, err := Add("t.yaml", text, Request{Alarms: alarmset.Basic})
	if err != nil || got.Refused != nil {
		t.Fatal(err, got.Refused)
	}
	if bytes.Contains(got.Text, []byte("HasOwnTopic")) || bytes.Contains(got.Text, []byte("AlarmTopicArn")) ||
		!bytes.Contains(got.Text, []byte("OKActions: [!Ref AlarmTopic]")) {
		t.Errorf("the alarms do not go to the topic that is there:\n%s", got.Text)
	}
}

func TestRollbackJoinsAPreferenceThatIsThere(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		"      DeploymentPreference:\n        Type: AllAtOnce\n": "        Type: AllAtOnce\n" +
			"        Alarms: [!Ref ChargeNewVersionErrorsAlarm, !Ref ChargeNewVersionFloodAlarm]\n",
		"      DeploymentPreference: {Type: AllAtOnce, Alarms: [!Ref Own]}\n": "Alarms: [!Ref ChargeNewVersionErrorsAlarm, " +
			"!Ref ChargeNewVersionFloodAlarm, !Ref Own]}\n",
		"      DeploymentPreference:\n        Alarms:\n          - !Ref Own\n": "        Alarms:\n" +
			"          - !Ref ChargeNewVersionErrorsAlarm\n          - !Ref ChargeNewVersionFloodAlarm\n          - !Ref Own\n",
		"      DeploymentPreference:\n        Alarms:\n        - !Ref Own\n": "        - !Ref ChargeNewVersionErrorsAlarm\n" +
			"        - !Ref ChargeNewVersionFloodAlarm\n        - !Ref Own\n",
	} {
		text := replaced(t, "      Events:\n", form+"      Events:\n")
		got, err := Add("t.yaml", text, Request{Rollback: true})
		if err != nil || got.Refused != nil {
			t.Errorf("%q: %v", form, err)
			continue
		}
		if !strings.Contains(string(got.Text), want) {
			t.Errorf("%q: the result lacks %q:\n%s", form, want, got.Text)
		}
		if err := holds("t.yaml", text, Request{Rollback: true}); err != nil {
			t.Errorf("%q: %v", form, err)
		}
	}
}

func TestAWorkersQueue(t *testing.T) {
	t.Parallel()
	got, err := Add("t.yaml", replaced(t, "", ""), Request{Alarms: alarmset.Basic, Workers: []string{"ChargeQueue"},
		Functions: []string{"ChargeFunction"}})
	if err != nil || got.Refused != nil {
		t.Fatal(err, got.Refused)
	}
	for _, want := range []string{
		"ChargeSilentJobsAlarm", "ChargeQueueWorkerCrashAlarm", "ChargeQueueWorkerMissingAlarm", "ChargeQueueSilentJobsAlarm",
	} {
		if !slices.Contains(got.Added, want) {
			t.Errorf("added %v, want %s too", got.Added, want)
		}
	}
	if len(got.Notes) == 0 || !strings.Contains(strings.Join(got.Notes, "\n"), "SQSAFE_WORKER_NAME") {
		t.Errorf("notes %q", got.Notes)
	}
}

// What cannot have its alarm is said.
func TestWhatIsLeftOutIsTold(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text []byte
		want string
	}{
		{replaced(t, "  ChargeQueue:\n", "  ChargeSilentJobsAlarm: {Type: AWS::SNS::Topic}\n  ChargeQueue:\n"),
			"ChargeSilentJobsAlarm is not added: the template has an AWS::SNS::Topic of this name; rename that"},
		{replaced(t, "      Events:\n", "      Events:\n"+
			"        First: {Type: SQS, Properties: {Queue: !GetAtt ChargeQueue.Arn}}\n"),
			"ChargeFunction: the alarms are for its first SQS event, First; watch the queue of Charge by hand"},
	} {
		got, err := Add("t.yaml", row.text, Request{Alarms: alarmset.Basic})
		if err != nil || got.Refused != nil {
			t.Error(err, got.Refused)
			continue
		}
		if !slices.Contains(got.Notes, row.want) {
			t.Errorf("got the notes %q, want %q", got.Notes, row.want)
		}
		again, err := Add("t.yaml", got.Text, Request{Alarms: alarmset.Basic})
		if err != nil || len(again.Added) > 0 || !slices.Contains(again.Notes, row.want) {
			t.Errorf("a second run adds %q and tells %q (%v)", again.Added, again.Notes, err)
		}
	}
}
