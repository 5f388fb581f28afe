package samtest_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// translate returns the folder with the translations of templates.
func translate(t *testing.T, templates ...string) string {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("testdata", "translate.py"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	run(t, tool(t, "python", append([]string{program, folder}, templates...)...))
	return folder
}

// lint returns the findings of cfn-lint in translations, by file. Three rules are
// off: SAM resolves the parameter that chooses the kind of deployment, so it is
// unused in the translation, cfn-lint does not know all actions of SQS, and it asks
// for a DeletionPolicy of functions, which the template must not give.
func lint(t *testing.T, files ...string) map[string][]string {
	t.Helper()
	arguments := append([]string{
		"--format", "json", "--ignore-checks", "W2001", "W3011", "W3037", "--regions", "us-east-1", "--",
	}, files...)
	out, err := tool(t, "cfn-lint", arguments...).Output()
	var findings []struct {
		Filename, Message string
		Rule              struct{ ID string }
	}
	if parsed := json.Unmarshal(out, &findings); parsed != nil {
		t.Fatalf("cfn-lint: %v: %v\n%s", err, parsed, out)
	}
	found := map[string][]string{}
	for _, f := range findings {
		found[f.Filename] = append(found[f.Filename], f.Rule.ID+" "+f.Message)
	}
	return found
}

const additionFile = "docs/add-to-your-template.yaml"

// TestSAMTranslationIsValidAndGrantsWhatIsUsed checks the translated template, and compares the
// permissions of its roles with those that the functions' code and Lambda
// itself need.
func TestSAMTranslationIsValidAndGrantsWhatIsUsed(t *testing.T) {
	t.Parallel()
	tools(t)
	folder := translate(t, templateFile, additionFile)
	refusals, err := filepath.Glob(filepath.Join(folder, "*.error"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range refusals {
		reason, err := os.ReadFile(file)
		t.Fatalf("SAM does not translate %s: %s %v", filepath.Base(file), reason, err)
	}
	file := filepath.Join(folder, "template.json")
	for _, findings := range lint(t, file, filepath.Join(folder, "add-to-your-template.json")) {
		t.Errorf("cfn-lint: %q", findings)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var template translated
	if err := json.Unmarshal(data, &template); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for id, r := range template.Resources {
		kinds[r.Type]++
		switch r.Type {
		case "AWS::Lambda::Function":
			template.checkRights(t, id)
		case "AWS::Lambda::EventSourceMapping":
			r.checkMapping(t, id)
		case "AWS::Lambda::Version":
			if r.Properties.Description == nil {
				t.Errorf("%s has no description: SAM makes no version for a new value of a parameter", id)
			}
			// Otherwise a deployment deletes the version that it replaces.
			if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
				t.Errorf("%s: DeletionPolicy %q, UpdateReplacePolicy %q", id, r.DeletionPolicy, r.UpdateReplacePolicy)
			}
		}
	}
	for _, kind := range []string{"Function", "Version", "Alias", "EventSourceMapping"} {
		if n := kinds["AWS::Lambda::"+kind]; n != 3 {
			t.Errorf("%d of %s, want 3", n, kind)
		}
	}
}

// translated has the parts of a CloudFormation template that are read.
type translated struct {
	Resources map[string]resource
}

type resource struct {
	Type, DeletionPolicy, UpdateReplacePolicy string

	Properties struct {
		// Properties of functions, versions and mappings.
		Role                         reference
		Description, FunctionName    any
		FunctionResponseTypes        []string
		ScalingConfig, MetricsConfig map[string]any
		// Properties of roles.
		ManagedPolicyArns []any
		Policies          []struct {
			PolicyDocument struct {
				Statement []struct {
					Effect    string
					Action    texts
					Resource  reference
					Condition any
				}
			}
		}
	}
}

func (template translated) checkRights(t *testing.T, function string) {
	t.Helper()
	role := template.Resources[template.Resources[function].Properties.Role.of(t)]
	want := append(own(function), poller(function)...)
	slices.Sort(want)
	if diff := cmp.Diff(want, role.rights(t)); diff != "" {
		t.Errorf("%s (-called +allowed):\n%s", function, diff)
	}
	if len(role.Properties.ManagedPolicyArns) > 0 {
		t.Errorf("%s has managed policies", function)
	}
}

// checkMapping checks properties that older translators dropped.
func (r resource) checkMapping(t *testing.T, id string) {
	t.Helper()
	p := r.Properties
	want := map[string]any{"Ref": strings.TrimSuffix(id, strings.SplitAfter(id, "Function")[1]) + "Aliaslive"}
	if diff := cmp.Diff(any(want), p.FunctionName); diff != "" {
		t.Errorf("%s does not feed the alias (-want +got):\n%s", id, diff)
	}
	if !slices.Equal(p.FunctionResponseTypes, []string{"ReportBatchItemFailures"}) ||
		p.ScalingConfig["MaximumConcurrency"] == nil || p.MetricsConfig["Metrics"] == nil {
		t.Errorf("%s has response types %q, scaling %v, metrics %v",
			id, p.FunctionResponseTypes, p.ScalingConfig, p.MetricsConfig)
	}
}

// poller returns the permissions that Lambda needs in a function's name: to
// read its queue and to write its log.
func poller(function string) []string {
	prefix := strings.TrimSuffix(function, "Function")
	source := prefix + "Queue"
	if function == stock {
		source += ".fifo"
	}
	return []string{
		"sqs:ReceiveMessage " + source, "sqs:DeleteMessage " + source, "sqs:GetQueueAttributes " + source,
		"logs:CreateLogStream " + prefix + "LogGroup", "logs:PutLogEvents " + prefix + "LogGroup",
	}
}

// reference is a reference to the ARN of a resource by Fn::GetAtt.
type reference struct {
	GetAtt []string `json:"Fn::GetAtt"`
}

// of returns the logical id of the resource.
func (r reference) of(t *testing.T) string {
	t.Helper()
	if len(r.GetAtt) != 2 || r.GetAtt[1] != "Arn" {
		t.Errorf("%q, want the ARN of a resource of the template", r.GetAtt)
		return ""
	}
	return r.GetAtt[0]
}

// UnmarshalJSON decodes a reference. Any other value gives an empty one.
func (r *reference) UnmarshalJSON(data []byte) error {
	type plain reference
	_ = json.Unmarshal(data, (*plain)(r)) // a string such as "*" names no resource
	return nil
}

// texts is one string or several.
type texts []string

// UnmarshalJSON decodes a string or a list of strings.
func (l *texts) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*l = make(texts, 1)
		return json.Unmarshal(data, &(*l)[0])
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// rights returns the permissions of a role, in the format of the recorder.
func (r resource) rights(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	for _, policy := range r.Properties.Policies {
		for _, statement := range policy.PolicyDocument.Statement {
			name := statement.Resource.of(t)
			if statement.Effect != "Allow" || statement.Condition != nil {
				t.Errorf("a statement on %s has the effect %s and the condition %v", name, statement.Effect, statement.Condition)
			}
			switch name {
			case "StockQueue":
				name = "StockQueue.fifo"
			case "StockDeadLetterQueue":
				name = "dead-StockQueue.fifo"
			}
			for _, action := range statement.Action {
				all[action+" "+name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// TestSAMToolsReportFaults puts faults into the template that the tools must
// report.
func TestSAMToolsReportFaults(t *testing.T) {
	t.Parallel()
	tools(t)
	sound, err := os.ReadFile(filepath.Join(root, templateFile))
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]struct{ old, new, want string }{
		"property":    {"TreatMissingData: ignore", "TreatMissingDatas: ignore", "E3002"},
		"event":       {"FunctionResponseTypes:", "FunctionResponseType:", "FunctionResponseType"},
		"response":    {"[ReportBatchItemFailures]", "[ReportBatchItemFailure]", "E3030"},
		"concurrency": {"MaximumConcurrency: !Ref MaximumConcurrency", "MaximumConcurrency: 1", "E3034"},
		"runtime":     {"Runtime: provided.al2023", "Runtime: go1.x", "E2531"},
		"attribute":   {"!GetAtt ChargeLogGroup.Arn", "!GetAtt ChargeLogs.Arn", "E1010"},
		"operator": {
			"ComparisonOperator: GreaterThanThreshold", "ComparisonOperator: GreaterThresholds", "E3030",
		},
		// The mapping depends on the alias, and the alias on the alarms of its
		// deployment.
		"circle": {"[!Ref ChargeNewVersionErrorsAlarm,", "[!Ref ChargePartialFailuresAlarm,", "E3004"},
	}
	folder := t.TempDir()
	var files []string
	for name, f := range faults {
		text := strings.Replace(string(sound), f.old, f.new, 1)
		if text == string(sound) {
			t.Errorf("%s: the template has no %q", name, f.old)
		}
		files = append(files, filepath.Join(folder, name+".yaml"))
		if err := os.WriteFile(files[len(files)-1], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder = translate(t, files...)
	translations, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := lint(t, translations...)
	for name, f := range faults {
		said := strings.Join(found[filepath.Join(folder, name+".json")], "\n")
		if reason, err := os.ReadFile(filepath.Join(folder, name+".error")); err == nil {
			said += string(reason)
		}
		if !strings.Contains(said, f.want) {
			t.Errorf("%s: nothing says %s: %s", name, f.want, said)
		}
	}
}
