package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// shape is what the standard's schema says of an object: its members and which
// of them are required. Values are another shape, a list of one, or a check.
type shape struct {
	required []string
	members  map[string]any
}

func text(v any) bool { s, ok := v.(string); return ok && s != "" }

func uri(v any) bool {
	s, ok := v.(string)
	_, err := url.Parse(s)
	return ok && err == nil
}

func positive(v any) bool { f, ok := v.(float64); return ok && f >= 1 && f == float64(int(f)) }

func index(v any) bool { f, ok := v.(float64); return ok && f >= -1 && f == float64(int(f)) }

func oneOf(words ...string) func(any) bool {
	return func(v any) bool { s, ok := v.(string); return ok && slices.Contains(words, s) }
}

// sarifShape has the objects of SARIF 2.1.0 that are written, as its schema
// defines them: no other member, each with its type.
var sarifShape = func() shape {
	message := shape{[]string{"text"}, map[string]any{"text": text}}
	level := oneOf("none", "note", "warning", "error")
	rule := shape{[]string{"id"}, map[string]any{
		"id": text, "shortDescription": message, "fullDescription": message, "help": message, "helpUri": uri,
		"defaultConfiguration": shape{nil, map[string]any{"level": level}},
	}}
	location := shape{nil, map[string]any{
		"physicalLocation": shape{[]string{"artifactLocation"}, map[string]any{
			"artifactLocation": shape{nil, map[string]any{"uri": uri}},
			"region":           shape{nil, map[string]any{"startLine": positive, "startColumn": positive}},
		}},
		"logicalLocations": []any{shape{nil, map[string]any{"name": text, "kind": text}}},
	}}
	result := shape{[]string{"message"}, map[string]any{
		"ruleId": text, "ruleIndex": index, "level": level, "message": message, "locations": []any{location},
		"suppressions": []any{shape{[]string{"kind"}, map[string]any{
			"kind": oneOf("inSource", "external"), "justification": text,
		}}},
	}}
	driver := shape{[]string{"name"}, map[string]any{"name": text, "informationUri": uri, "rules": []any{rule}}}
	run := shape{[]string{"tool"}, map[string]any{
		"tool":       shape{[]string{"driver"}, map[string]any{"driver": driver}},
		"results":    []any{result},
		"columnKind": oneOf("utf16CodeUnits", "unicodeCodePoints"),
	}}
	return shape{[]string{"version", "runs"}, map[string]any{
		"$schema": uri, "version": oneOf("2.1.0"), "runs": []any{run},
	}}
}()

// problems compares a value with what the schema says.
func problems(path string, want, got any) []string {
	switch want := want.(type) {
	case func(any) bool:
		if !want(got) {
			return []string{fmt.Sprintf("%s is %v", path, got)}
		}
	case []any:
		list, ok := got.([]any)
		if !ok {
			return []string{path + " is no list"}
		}
		var all []string
		for i, item := range list {
			all = append(all, problems(fmt.Sprintf("%s[%d]", path, i), want[0], item)...)
		}
		return all
	case shape:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{path + " is no object"}
		}
		var all []string
		for _, name := range want.required {
			if _, ok := object[name]; !ok {
				all = append(all, path+" has no "+name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			member, ok := want.members[name]
			if !ok {
				all = append(all, path+" has the member "+name)
				continue
			}
			all = append(all, problems(path+"."+name, member, object[name])...)
		}
		return all
	}
	return nil
}

func TestSARIFKeepsTheSchema(t *testing.T) {
	t.Parallel()
	const ignored = "  # sqsafe:ignore W05 one run is all we want\n  Jobs:\n    Type"
	broken := change(t, read(t, "testdata/plain.yaml"), []string{
		"maxReceiveCount: 5", "maxReceiveCount: 1", "  Jobs:\n    Type", ignored, plainEvent, "",
		"      AlarmActions: [!Ref Topic]\n", "",
	})
	for _, text := range []string{broken, read(t, "testdata/plain.yaml")} {
		report, err := Check("dir/my template.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := SARIF(report.Findings)
		if err != nil {
			t.Fatal(err)
		}
		var log any
		if err := json.Unmarshal(data, &log); err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems("log", sarifShape, log) {
			t.Error(problem)
		}
		for _, want := range []string{`"uri": "dir/my%20template.yaml"`, `"justification": "one run is all we want"`} {
			if len(report.Findings) > 0 && !strings.Contains(string(data), want) {
				t.Errorf("the log does not contain %s", want)
			}
		}
	}
}

// The index of a result's rule is that of the rule in the list.
func TestSARIFResultsPointToTheirRules(t *testing.T) {
	t.Parallel()
	var findings []Finding
	for _, rule := range Rules() {
		findings = append(findings, Finding{Rule: rule.ID, Level: rule.Level(), File: "/t.yaml", Line: 1, Column: 1})
	}
	data, err := SARIF(findings)
	if err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(data, &log); err != nil {
		t.Fatal(err)
	}
	for _, r := range log.Runs[0].Results {
		if got := log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID; got != r.RuleID {
			t.Errorf("the index of %s is that of %s", r.RuleID, got)
		}
		if got := r.Locations[0].PhysicalLocation.ArtifactLocation.URI; got != "file:///t.yaml" {
			t.Errorf("an absolute path is %q", got)
		}
	}
}
