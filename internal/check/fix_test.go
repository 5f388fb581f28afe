package check

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each finding that says it can be fixed is gone after Fix, nothing new is
// there, and a second Fix changes nothing.
func TestFixMendsWhatIsMechanical(t *testing.T) {
	t.Parallel()
	for file, scenarios := range map[string][]scenario{
		"testdata/base.yaml": withSqsafe, "testdata/plain.yaml": without, "testdata/synth.json": synthesized,
	} {
		text := read(t, file)
		for _, s := range scenarios {
			for _, ends := range []string{"\n", "\r\n"} {
				checkFix(t, s.name, file, strings.ReplaceAll(change(t, text, s.changes), "\n", ends))
			}
		}
	}
}

// Templates of the repository that were not written for these tests: fixing them
// keeps all other lines, and ends.
func TestFixOnOtherTemplates(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{
		"../../template.yaml", "../../docs/*.yaml", "../stack/testdata/*.yaml", "../stack/testdata/*.json",
		"../stack/testdata/foreign/*", "../cli/testdata/*/template.*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	read := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		if _, err := Check(file, data, nil); err != nil {
			continue // not a template, or one that is refused on purpose
		}
		read++
		for _, ends := range []string{"\n", "\r\n"} {
			checkFix(t, file, file, strings.ReplaceAll(string(data), "\n", ends))
		}
	}
	if read < 6 {
		t.Errorf("only %d templates of %d were read", read, len(files))
	}
}

// The stacks that this project shows keep its own rules.
func TestOwnTemplatesBreakNoRule(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../../template.yaml", "../../docs/add-to-your-template.yaml"} {
		if got := rulesIn(t, file, read(t, file)); len(got) > 0 {
			t.Errorf("%s breaks %v", file, got)
		}
	}
}

func checkFix(t testing.TB, name, file, text string) {
	t.Helper()
	before, err := Check(file, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	fixed, gone, err := Fix(file, []byte(text), nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	after, err := Check(file, fixed, nil)
	if err != nil {
		t.Fatalf("%s: the fixed text is no template: %v\n%s", name, err, fixed)
	}
	for _, f := range after.Findings {
		if f.Fixable && f.Ignored == "" {
			t.Errorf("%s: %s is left, though it says that it can be fixed: %s", name, f.Rule, f.Message)
		}
	}
	if len(gone) < len(before.Findings)-len(after.Findings) || after.Count(LevelError) > before.Count(LevelError) {
		t.Errorf("%s: %d findings before, %d after, %d fixed", name, len(before.Findings), len(after.Findings), len(gone))
	}
	again, _, err := Fix(file, fixed, nil)
	if err != nil || !bytes.Equal(again, fixed) {
		t.Errorf("%s: a second fix changes the text", name)
	}
	if n := changedLines(strings.Split(text, "\n"), strings.Split(string(fixed), "\n")); n > 2*len(gone) {
		t.Errorf("%s: %d lines have changed for %d findings", name, n, len(gone))
	}
}

// changedLines returns how many lines of a are not in b, in their order. A fix
// changes a line, or adds one; one that mends two numbers changes two.
func changedLines(a, b []string) int {
	changed := 0
	for _, line := range a {
		if i := slices.Index(b, line); i >= 0 {
			b = b[i+1:]
			continue
		}
		changed++
	}
	return changed
}

func TestFixWritesInTheStyleOfTheText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		changes    []string
		want       string
	}{
		{"a block", "testdata/base.yaml", []string{baseReports, ""},
			"          Properties:\n            FunctionResponseTypes: [ReportBatchItemFailures]\n            Queue: "},
		{"braces", "testdata/plain.yaml", []string{"Properties: {MessageRetentionPeriod: 1209600}",
			"Properties: {Tags: []}"}, "Properties: {MessageRetentionPeriod: 1209600, Tags: []}"},
		{"a number", "testdata/base.yaml", []string{baseQueue, "      VisibilityTimeout: 20 # seconds\n"},
			"      VisibilityTimeout: 180 # seconds\n"},
		{"quotes", "testdata/base.yaml", []string{baseEnv, "          SQSAFE_MAX_RECEIVES: '29'\n"},
			"          SQSAFE_MAX_RECEIVES: '30'\n"},
		{"the resource", "testdata/plain.yaml", []string{"    DeletionPolicy: Retain\n", ""},
			"  Dead:\n    DeletionPolicy: RetainExceptOnCreate\n    UpdateReplacePolicy: Retain\n    Type: AWS::SQS::Queue\n"},
		{"JSON", "testdata/synth.json", []string{",\n        \"VisibilityTimeout\": 60", ""},
			"      \"Properties\": {\n        \"VisibilityTimeout\": 60,\n        \"RedrivePolicy\": "},
		{"JSON in one line", "testdata/synth.json", []string{`{"MessageRetentionPeriod": 1209600}`, `{"Tags": []}`},
			`"Properties": {"MessageRetentionPeriod": 1209600, "Tags": []}`},
		{"letters of more than one byte", "testdata/base.yaml",
			[]string{"ScalingConfig: {MaximumConcurrency: 5}", "ScalingConfig: {\"\u00fc\u20ac\": a, MaximumConcurrency: 1}"},
			"ScalingConfig: {\"\u00fc\u20ac\": a, MaximumConcurrency: 2}"},
		{"not an expression", "testdata/base.yaml", []string{
			"VisibilityTimeout: 180", "VisibilityTimeout: !If [Long, 20, 20]",
			"Resources:\n", "Conditions: {Long: !Equals [a, a]}\nResources:\n"}, "VisibilityTimeout: !If [Long, 20, 20]"},
	}
	for _, tt := range tests {
		fixed, _, err := Fix(tt.file, []byte(change(t, read(t, tt.file), tt.changes)), nil)
		if err != nil || !strings.Contains(string(fixed), tt.want) {
			t.Errorf("%s: %v\n%s\nwant %q", tt.name, err, fixed, tt.want)
		}
	}
}

// Whatever the text, it is checked or refused with an error of one line, and
// fixing it ends.
func FuzzCheck(f *testing.F) {
	for _, file := range []string{"testdata/base.yaml", "testdata/plain.yaml", "testdata/synth.json"} {
		f.Add(read(f, file))
	}
	f.Add(change(f, read(f, "testdata/base.yaml"), []string{baseReports, "", baseQueue, ""}))
	f.Add("Resources: {F: {Type: AWS::Serverless::Function, Properties: {Events: {E: {Type: SQS, Properties: " +
		"{Queue: !GetAtt Q.Arn}}}}}, Q: {Type: AWS::SQS::Queue}}")
	f.Add("Resources:\n  Fn::ForEach::L: [X, [a, b], {'Q${X}': {Type: AWS::SQS::Queue}}]")
	f.Add("Conditions: {A: !Not [!Condition A]}\nResources: {Q: {Type: AWS::SQS::Queue, Condition: A}}")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Check("t.yaml", []byte(text), nil); err != nil {
			if !strings.HasPrefix(err.Error(), "t.yaml:") || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q is no error of one line", err)
			}
			return
		}
		fixed, _, err := Fix("t.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, err := Fix("t.yaml", fixed, nil); err != nil || !bytes.Equal(again, fixed) {
			t.Errorf("a second fix differs: %v", err)
		}
	})
}
