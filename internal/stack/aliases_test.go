package stack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withAliases returns the template sound with anchors at the top and old
// replaced.
func withAliases(anchors, old, replacement string) string {
	return anchors + strings.Replace(sound, old, replacement, 1)
}

func TestAliases(t *testing.T) {
	t.Parallel()
	const own = "      Environment: {Variables: {VALUE: plain}}\n"
	tests := []struct {
		name, anchors, replacement string
		want                       map[string]string
	}{
		{
			"a value", "Metadata: {Level: &level debug}\n",
			"      Environment: {Variables: {VALUE: *level}}\n", map[string]string{"VALUE": "debug"},
		},
		{
			"a key", "Metadata: {Name: &name LEVEL}\n",
			"      Environment: {Variables: {*name : debug}}\n", map[string]string{"LEVEL": "debug"},
		},
		{
			"a mapping", "x-common: &common\n  Variables: {LEVEL: debug}\n",
			"      Environment: *common\n", map[string]string{"LEVEL": "debug"},
		},
		{
			"a function, used twice", "x-mode: &mode !Ref Mode\n",
			"      Environment: {Variables: {AA: *mode, BB: *mode}}\n", map[string]string{"AA": "fast", "BB": "fast"},
		},
		{
			"a merge with an override", "x-common: &common {LEVEL: debug, VALUE: theirs}\n",
			"      Environment: {Variables: {<<: *common, VALUE: own}}\n",
			map[string]string{"LEVEL": "debug", "VALUE": "own"},
		},
		{
			"the first of several merges", "x: [&one {LEVEL: debug}, &two {LEVEL: info, MORE: yes}]\n",
			"      Environment: {Variables: {<<: [*one, *two]}}\n", map[string]string{"LEVEL": "debug", "MORE": "yes"},
		},
		{
			"merges within merges", "x: [&one {LEVEL: debug}, &two {<<: *one, MORE: yes}]\n",
			"      Environment: {Variables: {<<: *two}}\n", map[string]string{"LEVEL": "debug", "MORE": "yes"},
		},
		{
			"a function's properties", "x-common: &common {Environment: {Variables: {LEVEL: debug}}}\n",
			"      <<: *common\n", map[string]string{"LEVEL": "debug"},
		},
		{
			"Globals", "Globals: {Function: {Environment: &common {Variables: {LEVEL: debug}}}}\n",
			"      Environment: *common\n", map[string]string{"LEVEL": "debug"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := parseSAM("testdata/template.yaml", withAliases(tt.anchors, own, tt.replacement), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, s.Functions[0].Environment); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			const note = "aliases and merges are written out, as SAM's tools do it; CloudFormation itself knows none"
			if got := strings.Join(s.Notes, "\n"); strings.Count(got, note) != 1 {
				t.Errorf("notes %s, want one of aliases", got)
			}
		})
	}
}

func TestNoteAboutAliasesHasTheLineOfTheFirst(t *testing.T) {
	t.Parallel()
	text := withAliases("x: &x\n  - text\n", "VALUE: plain", "VALUE: plain, OTHER: !Select [0, *x], MORE: !Join [a, *x]")
	s, err := parseSAM("testdata/template.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Notes[0], "testdata/template.yaml:34: aliases and merges") {
		t.Errorf("notes %q, want the first of line 34", s.Notes)
	}
}

func TestInvalidAliasesAreRefused(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	tests := []struct{ name, text, want string }{
		{"too many nodes", bomb.String(), "t.yaml:1: the template's aliases make more than 200000 values: use fewer"},
		{"a cycle", "a: &a\n  b: [*a]\n", "t.yaml:2: alias *a stands within what it stands for: break the circle"},
		{"a cycle of merges", "a: &a\n  <<: *a\n", "t.yaml:2: alias *a stands within what it stands for: break the circle"},
		{"merge of a text", "a:\n  <<: text\n", "t.yaml:2: << takes a mapping or a list of mappings"},
		{"merge of texts", "a:\n  <<: [text]\n", "t.yaml:2: << takes a mapping or a list of mappings"},
		{"two merges", "a:\n  <<: {}\n  <<: {}\n", "t.yaml:3: << is given twice: write one with a list"},
		{
			"an error in an aliased node", "x: &x\n  Type: AWS::SQS::Queue\n  Properties: {DelaySeconds: 901}\n" +
				"Resources:\n  A: *x\n", `t.yaml:3: A: DelaySeconds "901": a whole number from 0 to 900 is needed`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseSAM("t.yaml", tt.text, nil)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
