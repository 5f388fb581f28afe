package check

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// resolver evaluates intrinsic functions as far as the template and the given
// parameters allow it.
type resolver struct {
	parameters map[string]parameter
	conditions map[string]*yaml.Node
	decided    map[string]truth
	mappings   *yaml.Node
	resources  map[string]bool
	depth      int
}

// parameter is one of the template's parameters.
type parameter struct {
	value string
	known bool
	list  bool
	// given says that the value is not a default, but the user's.
	given bool
}

// maxDepth is how deep functions may stand in each other.
const maxDepth = 200

// resolve evaluates the function of a node, or returns what it holds.
func (r *resolver) resolve(n *yaml.Node) value {
	if n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return value{}
	}
	if r.depth > maxDepth {
		return unknown(n)
	}
	r.depth++
	defer func() { r.depth-- }()
	v := r.evaluate(n)
	if v.kind != kindAbsent && v.kind != kindList && v.kind != kindMapping {
		v.node = n
	}
	v.r = r
	return v
}

func (r *resolver) evaluate(n *yaml.Node) value {
	name, argument := cfn.Intrinsic(n)
	switch name {
	case "", "Condition": // a policy statement has a member of that name
		return plain(n)
	case "Ref":
		if argument.Kind == yaml.ScalarNode {
			return r.named(argument.Value, n)
		}
	case "Fn::GetAtt":
		return r.attribute(n, argument)
	case "Fn::Sub":
		return r.sub(n, argument)
	case "Fn::If":
		return r.choose(n, argument)
	case "Fn::Join":
		return r.join(n, argument)
	case "Fn::Select":
		return r.pick(n, argument)
	case "Fn::Split":
		return r.split(n, argument)
	case "Fn::FindInMap":
		return r.find(n, argument)
	case "Fn::ImportValue":
		return value{kind: kindUnknown, text: token("import/" + r.resolve(argument).text), node: n}
	}
	return unknown(n)
}

func plain(n *yaml.Node) value {
	switch n.Kind {
	case yaml.MappingNode:
		return value{kind: kindMapping, node: n}
	case yaml.SequenceNode:
		return value{kind: kindList, node: n}
	}
	if strings.Contains(n.Value, "{{resolve:") {
		return value{kind: kindUnknown, text: token(n.Value), node: n}
	}
	return value{kind: kindText, text: strings.ReplaceAll(n.Value, mark, ""), node: n}
}

// named is Ref.
func (r *resolver) named(name string, n *yaml.Node) value {
	if name == "AWS::NoValue" {
		return value{}
	}
	p, ok := r.parameters[name]
	switch {
	case ok && !p.known:
		return value{kind: kindUnknown, text: token("parameter/" + name), node: n}
	case ok && p.list:
		var items []string
		for item := range strings.SplitSeq(p.value, ",") {
			items = append(items, strings.TrimSpace(item))
		}
		return value{kind: kindList, node: cfn.Sequence(items, n)}
	case ok:
		return value{kind: kindText, text: p.value, node: n}
	case strings.HasPrefix(name, "AWS::"):
		return value{kind: kindText, text: token(name), node: n}
	}
	return value{kind: kindText, text: token(name + ".Ref"), node: n}
}

func (r *resolver) attribute(n, argument *yaml.Node) value {
	if argument.Kind == yaml.SequenceNode {
		var parts []string
		for _, part := range argument.Content {
			parts = append(parts, r.resolve(part).text)
		}
		return value{kind: kindText, text: token(strings.Join(parts, ".")), node: n}
	}
	return value{kind: kindText, text: token(argument.Value), node: n}
}

// sub is Fn::Sub of a text, or of a text and its variables.
func (r *resolver) sub(n, argument *yaml.Node) value {
	source, variables := argument, (*yaml.Node)(nil)
	if argument.Kind == yaml.SequenceNode && len(argument.Content) == 2 {
		source, variables = argument.Content[0], argument.Content[1]
	}
	if source.Kind != yaml.ScalarNode {
		return unknown(n)
	}
	var out strings.Builder
	rest := source.Value
	for {
		before, after, ok := strings.Cut(rest, "${")
		name, behind, closed := strings.Cut(after, "}")
		if !ok || !closed {
			return value{kind: kindText, text: out.String() + rest, node: n}
		}
		out.WriteString(before + r.variable(strings.TrimSpace(name), variables, n))
		rest = behind
	}
}

func (r *resolver) variable(name string, variables, n *yaml.Node) string {
	if literal, ok := strings.CutPrefix(name, "!"); ok {
		return "${" + literal + "}"
	}
	if own := cfn.Member(variables, name); own != nil {
		return r.inText(r.resolve(own))
	}
	if strings.Contains(name, ".") {
		return token(name)
	}
	return r.inText(r.named(name, n))
}

// inText is a value as a part of a text.
func (r *resolver) inText(v value) string {
	if v.kind == kindText || v.kind == kindUnknown {
		return v.text
	}
	return anything
}

func (r *resolver) choose(n, argument *yaml.Node) value {
	if argument.Kind != yaml.SequenceNode || len(argument.Content) != 3 {
		return unknown(n)
	}
	branches := argument.Content[1:]
	switch r.condition(argument.Content[0].Value) {
	case yes:
		return r.resolve(branches[0])
	case no:
		return r.resolve(branches[1])
	}
	if a, b := r.resolve(branches[0]), r.resolve(branches[1]); a.kind == kindText && same(a, b) {
		return a
	}
	return unknown(n)
}

// same reports whether two texts are the same for sure.
func same(a, b value) bool {
	return a.kind == b.kind && a.text == b.text && a.text != "" && !strings.Contains(a.text, anything)
}

func (r *resolver) join(n, argument *yaml.Node) value {
	if argument.Kind != yaml.SequenceNode || len(argument.Content) != 2 {
		return unknown(n)
	}
	items, whole := r.resolve(argument.Content[1]).items()
	if !whole && len(items) == 0 {
		return unknown(n)
	}
	var parts []string
	for _, item := range items {
		parts = append(parts, r.inText(item))
	}
	return value{kind: kindText, text: strings.Join(parts, r.resolve(argument.Content[0]).text), node: n}
}

func (r *resolver) split(n, argument *yaml.Node) value {
	if argument.Kind != yaml.SequenceNode || len(argument.Content) != 2 {
		return unknown(n)
	}
	separator, source := r.resolve(argument.Content[0]), r.resolve(argument.Content[1])
	if !separator.known() || separator.text == "" || !source.known() {
		return unknown(n)
	}
	return value{kind: kindList, node: cfn.Sequence(strings.Split(source.text, separator.text), n)}
}

func (r *resolver) pick(n, argument *yaml.Node) value {
	if argument.Kind != yaml.SequenceNode || len(argument.Content) != 2 {
		return unknown(n)
	}
	items, whole := r.resolve(argument.Content[1]).items()
	i, err := strconv.Atoi(r.resolve(argument.Content[0]).text)
	if err != nil || !whole || i < 0 || i >= len(items) {
		return unknown(n)
	}
	return items[i]
}

func (r *resolver) find(n, argument *yaml.Node) value {
	if argument.Kind != yaml.SequenceNode || len(argument.Content) < 3 {
		return unknown(n)
	}
	found := r.mappings
	for _, key := range argument.Content[:3] {
		k := r.resolve(key)
		if !k.known() {
			return unknown(n)
		}
		found = cfn.Member(found, k.text)
	}
	if found == nil {
		return unknown(n)
	}
	return r.resolve(found)
}

// condition evaluates a condition by its name.
func (r *resolver) condition(name string) truth {
	if t, ok := r.decided[name]; ok {
		return t
	}
	r.decided[name] = maybe // what depends on itself is not known
	n := r.conditions[name]
	if n == nil {
		return maybe
	}
	r.decided[name] = r.holds(n)
	return r.decided[name]
}

func (r *resolver) holds(n *yaml.Node) truth {
	name, argument := cfn.Intrinsic(n)
	var sides []*yaml.Node
	if argument != nil {
		sides = argument.Content
	}
	if r.depth > maxDepth {
		return maybe
	}
	r.depth++
	defer func() { r.depth-- }()
	switch {
	case name == "Condition":
		return r.condition(argument.Value)
	case name == "Fn::Equals" && len(sides) == 2:
		return equal(r.resolve(sides[0]), r.resolve(sides[1]))
	case name == "Fn::Not" && len(sides) == 1:
		return r.holds(sides[0]).not()
	case name == "Fn::And" && len(sides) > 0:
		all := yes
		for _, side := range sides {
			all = all.and(r.holds(side))
		}
		return all
	case name == "Fn::Or" && len(sides) > 0:
		none := yes
		for _, side := range sides {
			none = none.and(r.holds(side).not())
		}
		return none.not()
	}
	return maybe
}

func equal(a, b value) truth {
	switch {
	case a.known() && b.known():
		return truthOf(a.text == b.text)
	case same(a, b):
		return yes
	}
	return maybe
}

// declare reads the sections that functions refer to.
func declare(root *yaml.Node, given map[string]string) *resolver {
	r := &resolver{
		parameters: map[string]parameter{}, conditions: map[string]*yaml.Node{}, decided: map[string]truth{},
		mappings: cfn.Member(root, "Mappings"), resources: map[string]bool{},
	}
	for _, e := range cfn.Entries(cfn.Member(root, "Parameters")) {
		var p parameter
		if preset := cfn.Member(e.Value, "Default"); preset != nil && preset.Kind == yaml.ScalarNode {
			p.value, p.known = preset.Value, true
		}
		if kind := cfn.Member(e.Value, "Type"); kind != nil {
			p.list = kind.Value == "CommaDelimitedList" || strings.HasPrefix(kind.Value, "List<")
			// The value of a stored parameter is in AWS; its default is its name.
			p.known = p.known && !strings.HasPrefix(kind.Value, "AWS::SSM::")
		}
		if text, ok := given[e.Key.Value]; ok {
			p.value, p.known, p.given = text, true, true
		}
		r.parameters[e.Key.Value] = p
	}
	return r
}

// items is what a loop goes through.
func (r *resolver) items(n *yaml.Node) ([]string, bool) {
	values, whole := r.resolve(n).items()
	var texts []string
	for _, v := range values {
		if !v.known() {
			return nil, false
		}
		texts = append(texts, v.text)
	}
	return slices.Clip(texts), whole
}
