package check

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// kind says what a node comes to.
type kind uint8

const (
	kindAbsent kind = iota
	// kindUnknown is a value that only a deployment has: a parameter without a
	// default, an import, a choice whose condition is not known.
	kindUnknown
	kindText
	kindList
	kindMapping
)

// value is what a node of the template comes to. Its members and items are
// resolved when they are asked for.
type value struct {
	kind kind
	// text is that of a text. It has a token for each part that only a
	// deployment has; an unknown value has one as well, so that texts can be put
	// together of it.
	text string
	node *yaml.Node // nil if it is absent
	r    *resolver
}

// A token stands in a text for what only a deployment has: between two zero
// bytes, ID.ATTRIBUTE of a resource, where Ref counts as an attribute, or
// another name. Colons in it are written as slashes, so that an ARN can be cut
// at its colons.
const mark = "\x00"

func token(name string) string { return mark + strings.ReplaceAll(name, ":", "/") + mark }

// anything is the token of a value that nothing is known of, not even whether it
// is the same as another.
var anything = token("?")

// known reports whether a value is a text without tokens.
func (v value) known() bool { return v.kind == kindText && !strings.Contains(v.text, mark) }

func (v value) absent() bool { return v.kind == kindAbsent }

// get returns a member of a mapping. A member of an unknown value is unknown.
func (v value) get(name string) value {
	switch v.kind {
	case kindUnknown:
		return unknown(v.node)
	case kindMapping:
		if n := cfn.Member(v.node, name); n != nil {
			return v.r.resolve(n)
		}
		if cfn.Member(v.node, "Fn::Transform") != nil {
			return unknown(v.node)
		}
	}
	return value{}
}

// items returns the items of a list; a single text counts as a list of one, as
// it does in policies. whole is false if the list may have others.
func (v value) items() (items []value, whole bool) {
	switch v.kind {
	case kindAbsent:
		return nil, true
	case kindUnknown:
		return nil, false
	case kindList:
		whole = true
		for _, n := range v.node.Content {
			switch item := v.r.resolve(n); item.kind {
			case kindAbsent:
			case kindList:
				inner, all := item.items()
				items, whole = append(items, inner...), whole && all
			case kindUnknown:
				items, whole = append(items, item), false
			default:
				items = append(items, item)
			}
		}
		return items, whole
	}
	return []value{v}, true
}

// number is a whole number of the template, or its default.
type number struct {
	n     int
	known bool
	node  *yaml.Node // nil if the template does not have it
}

// number reads a whole number; preset is what AWS takes if it is absent.
func (v value) number(preset int) number {
	if v.absent() {
		return number{n: preset, known: true}
	}
	if v.known() {
		if f, err := strconv.ParseFloat(strings.TrimSpace(v.text), 64); err == nil && f == float64(int(f)) {
			return number{n: int(f), known: true, node: v.node}
		}
	}
	return number{node: v.node}
}

// flag reads true or false; preset is what AWS takes if it is absent.
func (v value) flag(preset truth) truth {
	switch {
	case v.absent():
		return preset
	case v.known() && strings.EqualFold(v.text, "true"):
		return yes
	case v.known() && strings.EqualFold(v.text, "false"):
		return no
	}
	return maybe
}

// reference returns the resource and the attribute that a text consists of; ok
// is false for any other text.
func (v value) reference() (id, attribute string, ok bool) {
	inner, closed := strings.CutSuffix(strings.TrimPrefix(v.text, mark), mark)
	if v.kind != kindText || !strings.HasPrefix(v.text, mark) || !closed || strings.Contains(inner, mark) {
		return "", "", false
	}
	i := strings.LastIndexByte(inner, '.')
	if i < 0 {
		return "", "", false
	}
	return inner[:i], inner[i+1:], true
}

// shown is a value for a message, without its tokens.
func (v value) shown() string {
	text := strings.ReplaceAll(v.text, mark, "")
	return strings.TrimSuffix(strings.TrimSuffix(text, ".Ref"), ".Arn")
}

func unknown(n *yaml.Node) value { return value{kind: kindUnknown, text: anything, node: n} }

// truth is true, false, or not known before a deployment.
type truth uint8

const (
	maybe truth = iota
	yes
	no
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) and(other truth) truth {
	switch {
	case t == no || other == no:
		return no
	case t == yes && other == yes:
		return yes
	}
	return maybe
}

func (t truth) not() truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return maybe
}
