package stack_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// foreignTemplates are templates of other projects, with their options.
var foreignTemplates = map[string]*stack.Options{
	"starter.yaml":  nil,
	"import.yaml":   {Parameters: map[string]string{"DatabaseUrl": "postgres://127.0.0.1/import"}},
	"mapping.json":  nil,
	"polyglot.yaml": nil,
	"pipeline.yaml": nil,
}

func TestForeignTemplates(t *testing.T) {
	t.Parallel()
	for name, options := range foreignTemplates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := stack.Read(filepath.Join("testdata", "foreign", name), options)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("foreign", strings.TrimSuffix(name, filepath.Ext(name))+".golden"), s)
		})
	}
}

// TestNotesOnForeignTemplates checks that every skipped part has a note with its line.
func TestNotesOnForeignTemplates(t *testing.T) {
	t.Parallel()
	const outside = "is not the ARN of a queue of this template (Inbox, Spare, Bills): write !GetAtt QUEUE.Arn"
	want := []string{
		":21: GoFunction: event Billing is left alone: parameter BillingQueueArn has no value and no Default: " +
			"give it one, as in BillingQueueArn=VALUE",
		`:22: GoFunction: event Audit is left alone: Queue ` +
			`"arn:aws:sqs:eu-west-1:210987654321:audit" ` + outside,
		":23: GoFunction: event Imported is left alone: Fn::ImportValue needs AWS: " +
			"replace it by a parameter and give that a value",
		`:30: PythonFunction is left alone: Runtime "python3.13": only Go functions, ` +
			"with provided.al2023, are built and run here",
		":37: ImageFunction is left alone: PackageType Image: only a Zip is built and run here",
		`:40: RustFunction is left alone: BuildMethod "rust-cargolambda" does not build Go: ` +
			"write go1.x or makefile",
		":49: WebFunction is left alone: it has no SQS event",
	}
	file := filepath.Join("testdata", "foreign", "polyglot.yaml")
	s, err := stack.Read(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, note := range s.Notes {
		got = append(got, strings.TrimPrefix(note, file))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestQueueARNFromAParameter(t *testing.T) {
	t.Parallel()
	s, err := stack.Read(filepath.Join("testdata", "foreign", "polyglot.yaml"), &stack.Options{
		Parameters: map[string]string{"BillingQueueArn": "arn:aws:sqs:us-east-1:123456789012:Bills"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range s.Functions[0].Events {
		got = append(got, e.Name+" of "+e.Queue)
	}
	if diff := cmp.Diff([]string{"Inbox of Inbox", "Billing of Bills", "Switched of Spare"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestPartsUnderATrueConditionAreRead checks that parts under a condition are read if
// the condition is true, and that their errors are reported.
func TestPartsUnderATrueConditionAreRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "foreign", "import.yaml")
	_, err := stack.Read(file, &stack.Options{Parameters: map[string]string{"DatabaseUrl": "x", "Stage": "live"}})
	want := file + `:82: ReportFunction: CodeUri "report": no such folder: name the one of the function's main package`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestStoredParameterNeedsAValue(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "foreign", "import.yaml")
	_, err := stack.Read(file, nil)
	want := file + ":11: parameter DatabaseUrl: its value is stored in AWS: give it one, as in DatabaseUrl=VALUE"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
