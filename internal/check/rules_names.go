package check

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// nameRules are about misspelt names. CloudFormation refuses them, but the other
// rules say nothing of a queue or a function that they do not find.
func nameRules() []Rule {
	return []Rule{
		{
			ID: "E40", Title: "a Ref, Fn::GetAtt or Fn::Sub of a name that the template does not have",
			Why:    "CloudFormation refuses the template, and until the name is right no other rule sees what it stands for.",
			Write:  "Queue: !GetAtt NAME.Arn # NAME is a resource of this template",
			Source: formationGuide + "intrinsic-function-reference-ref.html",
			find:   danglingNames,
		},
		{
			ID: "E41", Title: "a RedrivePolicy without deadLetterTargetArn or maxReceiveCount",
			Why:    "SQS refuses the queue, and the deployment fails.",
			Write:  "RedrivePolicy: {deadLetterTargetArn: !GetAtt DeadLetterQueue.Arn, maxReceiveCount: 30}",
			Source: formationGuide + "aws-resource-sqs-queue.html",
			find:   halfRedrive,
		},
		{
			ID: "E42", Title: "a resource type that CloudFormation does not have, or has not without a Transform",
			Why:   "CloudFormation refuses the template.",
			Write: "Transform: AWS::Serverless-2016-10-31", Source: samGuide + "sam-specification-template-anatomy.html",
			find: unknownTypes,
		},
	}
}

// Transforms whose effect on names is known here. Others may add resources.
const (
	transformSAM      = "AWS::Serverless-2016-10-31"
	transformLanguage = "AWS::LanguageExtensions"
)

// transforms returns the transforms of the template; whole is false if it has
// others than the known ones.
func (m *model) transforms() (names []string, whole bool) {
	whole = !m.open && cfn.Member(m.root, "Fn::Transform") == nil &&
		cfn.Member(cfn.Member(m.root, "Resources"), "Fn::Transform") == nil
	items, known := m.resolve(cfn.Member(m.root, "Transform")).items()
	for _, v := range items {
		names = append(names, v.text)
		known = known && (v.text == transformSAM || v.text == transformLanguage)
	}
	return names, whole && known
}

func danglingNames(m *model) []finding {
	if _, whole := m.transforms(); !whole {
		return nil
	}
	var list []finding
	seen := map[*yaml.Node]bool{}
	for _, r := range m.all {
		m.eachName(r.own(), func(n *yaml.Node, function, name string) {
			if seen[n] || m.has(name) {
				return
			}
			seen[n] = true
			f := found(r, n, "%s %s: the template has no resource or parameter of that name", function, name)
			if meant := cfn.Nearest(name, m.names(), 1+len(name)/4); meant != "" {
				f = f.writing("%s in place of %s", meant, name)
			}
			list = append(list, f)
		})
	}
	return list
}

// names are what Ref can refer to, in the order of the template's resources.
func (m *model) names() []string {
	names := slices.Sorted(maps.Keys(m.parameters))
	for _, r := range m.all {
		names = append(names, r.id)
	}
	return names
}

// has reports whether a name is one of the template's, or may be one that SAM
// makes: it begins with the id of a SAM resource, or with Serverless.
func (m *model) has(name string) bool {
	if _, ok := m.parameters[name]; ok || m.byID[name] != nil || strings.Contains(name, "::") {
		return true
	}
	return strings.HasPrefix(name, "Serverless") || slices.ContainsFunc(m.all, func(r *resource) bool {
		return strings.HasPrefix(r.kind, "AWS::Serverless::") && strings.HasPrefix(name, r.id)
	})
}

// eachName calls visit for each name that functions in n refer to.
func (m *model) eachName(n *yaml.Node, visit func(n *yaml.Node, function, name string)) {
	if n == nil {
		return
	}
	switch function, argument := cfn.Intrinsic(n); function {
	case "Ref":
		if argument.Kind == yaml.ScalarNode {
			visit(n, function, argument.Value)
		}
		return
	case "Fn::GetAtt":
		first := argument
		if argument.Kind == yaml.SequenceNode && len(argument.Content) > 0 {
			first = argument.Content[0]
		}
		if id, _, _ := strings.Cut(first.Value, "."); first.Kind == yaml.ScalarNode && id != "" {
			visit(n, function, id)
		}
		return
	case "Fn::Sub":
		m.eachVariable(n, argument, visit)
	case "Fn::Transform":
		return
	}
	for _, inner := range n.Content {
		m.eachName(inner, visit)
	}
}

// eachVariable calls visit for each ${NAME} of Fn::Sub that is no variable of its
// own.
func (m *model) eachVariable(n, argument *yaml.Node, visit func(n *yaml.Node, function, name string)) {
	source, variables := argument, (*yaml.Node)(nil)
	if argument.Kind == yaml.SequenceNode && len(argument.Content) == 2 {
		source, variables = argument.Content[0], argument.Content[1]
	}
	rest := source.Value
	for source.Kind == yaml.ScalarNode {
		_, after, opened := strings.Cut(rest, "${")
		name, behind, closed := strings.Cut(after, "}")
		if !opened || !closed {
			return
		}
		rest = behind
		name = strings.TrimSpace(name)
		id, _, _ := strings.Cut(name, ".")
		if id != "" && !strings.HasPrefix(name, "!") && cfn.Member(variables, name) == nil {
			visit(n, "Fn::Sub", id)
		}
	}
}

func halfRedrive(m *model) []finding {
	var list []finding
	for _, q := range m.of(typeQueue) {
		policy := q.props.get("RedrivePolicy")
		if policy.kind != kindMapping {
			continue
		}
		for _, property := range []string{"deadLetterTargetArn", "maxReceiveCount"} {
			if policy.get(property).absent() {
				list = append(list, found(q, q.at("RedrivePolicy"), "the RedrivePolicy of %s has no %s", q.id, property))
			}
		}
	}
	return list
}

func unknownTypes(m *model) []finding {
	names, whole := m.transforms()
	var list []finding
	for _, r := range m.all {
		switch {
		case strings.HasPrefix(r.kind, "AWS::Serverless::") && whole && !slices.Contains(names, transformSAM):
			list = append(list, found(r, r.key, "%s has the type %s, and the template no Transform", r.id, r.kind))
		case strings.HasPrefix(r.kind, "AWS::SQS::") &&
			!r.is(typeQueue, typeQueuePolicy, "AWS::SQS::QueueInlinePolicy"):
			list = append(list, found(r, r.key, "%s has the type %s; SQS has AWS::SQS::Queue", r.id, r.kind).
				writing("Type: AWS::SQS::Queue"))
		}
	}
	return list
}
