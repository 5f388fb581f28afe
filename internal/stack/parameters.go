package stack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// parameter is a member of the template's Parameters.
type parameter struct {
	name  string
	kind  string
	node  *yaml.Node // its key
	rules *yaml.Node
	value *string // nil if it has none
	// stored says that the value is the name of a parameter that AWS stores.
	stored bool
}

// declareParameters declares the parameters. The caller's values override the
// defaults.
func (t *template) declareParameters(n *yaml.Node) {
	t.parameters = map[string]*parameter{}
	for _, e := range entries(n) {
		p := &parameter{name: e.key.Value, kind: "String", node: e.key, rules: e.value}
		if kind := member(e.value, "Type"); kind != nil {
			p.kind = kind.Value
			t.checkParameterType(p, kind)
		}
		if preset := member(e.value, "Default"); preset != nil {
			p.value = &preset.Value
			p.stored = strings.HasPrefix(p.kind, "AWS::SSM::")
		}
		if given, ok := t.options.Parameters[p.name]; ok {
			p.value, p.stored = &given, false
		}
		t.checkParameter(p)
		t.parameters[p.name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(t.options.Parameters)) {
		if t.parameters[name] == nil {
			known := slices.Sorted(maps.Keys(t.parameters))
			t.fail(&yaml.Node{}, "no parameter %s to override: the template has %s", name, listed(known))
		}
	}
}

// checkParameter checks a parameter's value against its rules. It does not
// check lists and AWS-specific types.
func (t *template) checkParameter(p *parameter) {
	if p.value == nil || p.kind != "String" && p.kind != "Number" {
		return
	}
	problem := p.problem()
	if problem == "" {
		problem = t.patternProblem(p)
	}
	if problem == "" {
		return
	}
	shown := strconv.Quote(*p.value)
	if hidden := member(p.rules, "NoEcho"); hidden != nil && hidden.Value == "true" {
		shown = "(hidden)"
	}
	if d := member(p.rules, "ConstraintDescription"); d != nil {
		problem += " (" + strings.TrimSpace(d.Value) + ")"
	}
	t.fail(p.node, "parameter %s: %s %s", p.name, shown, problem)
}

// problem says what is wrong with the parameter's value; empty if nothing is.
func (p *parameter) problem() string {
	if allowed := member(p.rules, "AllowedValues"); allowed != nil {
		var values []string
		for _, v := range allowed.Content {
			values = append(values, v.Value)
		}
		if !slices.Contains(values, *p.value) {
			return "is not among its AllowedValues: " + listed(values)
		}
	}
	if p.kind == "Number" {
		number, err := strconv.ParseFloat(*p.value, 64)
		if err != nil {
			return "is not a number"
		}
		return p.outside("MinValue", "MaxValue", number)
	}
	return p.outside("MinLength", "MaxLength", float64(utf8.RuneCountInString(*p.value)))
}

func (p *parameter) outside(least, most string, measure float64) string {
	if limit, ok := p.limit(least); ok && measure < limit {
		return fmt.Sprintf("is below its %s %v", least, limit)
	}
	if limit, ok := p.limit(most); ok && measure > limit {
		return fmt.Sprintf("is above its %s %v", most, limit)
	}
	return ""
}

func (p *parameter) limit(name string) (float64, bool) {
	n := member(p.rules, name)
	if n == nil {
		return 0, false
	}
	limit, err := strconv.ParseFloat(n.Value, 64)
	return limit, err == nil
}

// patternProblem checks that the AllowedPattern matches the whole value.
// Patterns have Java's syntax; a pattern that Go cannot compile gets a note.
func (t *template) patternProblem(p *parameter) string {
	n := member(p.rules, "AllowedPattern")
	if n == nil {
		return ""
	}
	pattern, err := regexp.Compile("^(?:" + n.Value + ")$")
	if err != nil {
		t.note(n, "parameter %s: its AllowedPattern is not checked here", p.name)
		return ""
	}
	if !pattern.MatchString(*p.value) {
		return "does not match its AllowedPattern " + n.Value
	}
	return ""
}

// parameterValue returns the value of Ref for a parameter.
func (t *template) parameterValue(p *parameter, at *yaml.Node) *yaml.Node {
	switch {
	case p.value == nil:
		t.failElsewhere(p.node, "parameter %s has no value and no Default: give it one, as in %s=VALUE", p.name, p.name)
		return nil
	case p.stored:
		t.failElsewhere(p.node, "parameter %s: its value is stored in AWS: give it one, as in %s=VALUE", p.name, p.name)
		return nil
	case p.kind == "CommaDelimitedList" || strings.HasPrefix(p.kind, "List<"):
		items := strings.Split(*p.value, ",")
		for i := range items {
			items[i] = strings.TrimSpace(items[i])
		}
		return sequence(items, at)
	}
	return scalar(*p.value, at)
}
