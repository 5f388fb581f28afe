package cfn_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// Whatever a text holds, it is read or refused with its file's name, and loops
// end.
func FuzzLoadAndUnroll(f *testing.F) {
	for _, seed := range []string{
		"Resources: {Q: {Type: AWS::SQS::Queue}}",
		"a: &a {b: 1}\nc: *a\nd: {<<: *a}",
		"R:\n  Fn::ForEach::L: [X, [a, b], {'Q${X}': {Ref: X}, 'Fn::ForEach::M': [Y, [1], {'${X}${Y}': !Sub '${Y}'}]}]",
		`{"R": {"Fn::ForEach::L": ["X", ["a"], {"&{X}": {"Fn::GetAtt": ["${X}", "Arn"]}}]}}`,
		"a: !Ref b\nc: !Sub 'x'\nd: !Nope e",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, _, err := cfn.Load("t.yaml", []byte(text))
		if err == nil {
			_, _, err = cfn.Unroll("t.yaml", root, literal)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "t.yaml:") {
			t.Errorf("error %q without the file's name", err)
		}
	})
}

func literal(n *yaml.Node) ([]string, bool) {
	var items []string
	for _, item := range n.Content {
		items = append(items, item.Value)
	}
	return items, n.Kind == yaml.SequenceNode
}
