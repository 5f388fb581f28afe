package stack

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// pseudo returns the value of a pseudo parameter, if it has one locally.
func (t *template) pseudo(name string) (string, bool) {
	switch name {
	case "AWS::Region":
		return t.options.Region, true
	case "AWS::AccountId":
		return t.options.Account, true
	case "AWS::Partition":
		return "aws", true
	case "AWS::URLSuffix":
		return "amazonaws.com", true
	case "AWS::StackName":
		return "local", true
	}
	return "", false
}

// ref resolves Ref. It returns nil without an error for AWS::NoValue.
func (t *template) ref(n, argument *yaml.Node) *yaml.Node {
	name := argument.Value
	if argument.Kind != yaml.ScalarNode || name == "" {
		t.fail(n, "Ref takes the name of a parameter or resource")
		return nil
	}
	if name == "AWS::NoValue" {
		return nil
	}
	return t.named(n, "Ref", name)
}

// named resolves a name as Ref does.
func (t *template) named(at *yaml.Node, function, name string) *yaml.Node {
	if value, ok := t.pseudo(name); ok {
		return scalar(value, at)
	}
	if p := t.parameters[name]; p != nil {
		return t.parameterValue(p, at)
	}
	if t.resource(name) == nil && t.madeBySAM(name) {
		return t.placeholder(at, name, "%s %s: SAM makes this event source mapping in AWS only", function, name)
	}
	if t.resource(name) == nil {
		t.fail(at, "%s %s: no such parameter or resource: add it, or correct the name", function, name)
		return nil
	}
	r := t.found(at, function, name)
	if r == nil {
		return nil
	}
	value, ok := t.reference(r)
	if !ok {
		return t.placeholder(at, name, "%s %s: %s exists in AWS only", function, name, r.kind)
	}
	return scalar(value, at)
}

// getAtt resolves Fn::GetAtt. Its argument is "id.attribute" or a list of the
// two.
func (t *template) getAtt(n, argument *yaml.Node) *yaml.Node {
	id, name, _ := strings.Cut(argument.Value, ".")
	if argument.Kind == yaml.SequenceNode && len(argument.Content) == 2 {
		id, name = argument.Content[0].Value, t.text(argument.Content[1], "Fn::GetAtt")
	}
	if id == "" || name == "" {
		t.fail(n, "Fn::GetAtt takes a resource and an attribute, as in ChargeQueue.Arn")
		return nil
	}
	return t.attributeOf(n, "Fn::GetAtt", id, name)
}

func (t *template) attributeOf(at *yaml.Node, function, id, name string) *yaml.Node {
	r := t.found(at, function, id)
	if r == nil {
		return nil
	}
	value, ok := t.attribute(r, name)
	if !ok && r.kind == kindQueue {
		t.fail(at, "%s %s.%s: a queue has Arn, QueueName and QueueUrl: correct the name", function, id, name)
		return nil
	}
	if !ok {
		return t.placeholder(at, id+"."+name, "%s %s.%s: %s has it in AWS only", function, id, name, r.kind)
	}
	return scalar(value, at)
}

// sub resolves Fn::Sub. Its argument is a text, or a list of a text and its
// variables.
func (t *template) sub(n, argument *yaml.Node) *yaml.Node {
	source, variables := argument, (*yaml.Node)(nil)
	if argument.Kind == yaml.SequenceNode {
		args := t.arguments(n, 2, 2)
		if args == nil {
			return nil
		}
		source, variables = args[0], args[1]
	}
	if source.Kind != yaml.ScalarNode {
		t.fail(n, "Fn::Sub takes a text, or a list of a text and its variables")
		return nil
	}
	var out strings.Builder
	rest := source.Value
	for {
		before, after, ok := strings.Cut(rest, "${")
		name, behind, closed := strings.Cut(after, "}")
		if !ok || !closed {
			return scalar(out.String()+rest, n)
		}
		out.WriteString(before + t.variable(n, variables, name))
		rest = behind
	}
}

// variable resolves a name between the braces of ${} in Fn::Sub.
func (t *template) variable(at, variables *yaml.Node, name string) string {
	if literal, ok := strings.CutPrefix(name, "!"); ok {
		return "${" + literal + "}"
	}
	if n := member(variables, name); n != nil {
		return t.text(n, "Fn::Sub variable "+name)
	}
	what := "Fn::Sub ${" + name + "}"
	if id, attribute, ok := strings.Cut(name, "."); ok {
		return t.substituted(t.attributeOf(at, "Fn::Sub", id, attribute), what)
	}
	return t.substituted(t.named(at, "Fn::Sub", name), what)
}

func (t *template) substituted(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	return t.text(n, what)
}
