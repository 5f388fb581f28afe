package cfn

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// Functions are CloudFormation's intrinsic functions as tags, including
// those of rules and of language extensions.
var Functions = []string{
	"And", "Base64", "Cidr", "Condition", "Contains", "EachMemberEquals", "EachMemberIn", "Equals", "FindInMap",
	"ForEach", "GetAZs", "GetAtt", "GetStackOutput", "If", "ImportValue", "Join", "Length", "Not", "Or", "Ref",
	"RefAll", "Select", "Split", "Sub", "ToJsonString", "Transform", "ValueOf", "ValueOfAll",
}

// Intrinsic returns the name and the argument of a node's intrinsic function,
// or an empty name if it is none.
func Intrinsic(n *yaml.Node) (name string, argument *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return "", nil
	}
	name = n.Content[0].Value
	if name == "Ref" || name == "Condition" || strings.HasPrefix(name, "Fn::") {
		return name, n.Content[1]
	}
	return "", nil
}

// IsIntrinsic reports whether a node is an intrinsic function.
func IsIntrinsic(n *yaml.Node) bool {
	name, _ := Intrinsic(n)
	return name != ""
}
