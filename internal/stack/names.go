package stack

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// naming defines the names of the resources of a type.
type naming struct {
	property string
	// legal matches the names that AWS accepts; rule says the same in words.
	legal *regexp.Regexp
	rule  string
}

var (
	tableNaming = naming{
		"TableName", regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`),
		"3 to 255 letters, digits, and _ . -",
	}
	namings = map[string]naming{
		kindQueue: {
			"QueueName", regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$|^[A-Za-z0-9_-]{1,75}\.fifo$`),
			"at most 80 letters, digits, and _ -, with .fifo at the end of a FIFO queue's",
		},
		kindFunction: {
			"FunctionName", regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`),
			"1 to 64 letters, digits, and _ -",
		},
		kindTable:       tableNaming,
		kindSimpleTable: tableNaming,
	}
)

// physicalName returns the name of a resource in AWS: the one that the template
// sets, or else the logical id.
func (t *template) physicalName(r *resource) string {
	if r.name != "" || t.err != nil {
		return r.name
	}
	if r.naming {
		t.fail(r.node, "%s: its name depends on itself: give it a name without a reference", r.id)
		return ""
	}
	r.naming = true
	defer func() { r.naming = false }()

	n := namings[r.kind]
	properties := t.properties(r)
	given := properties.text(n.property)
	fifo := r.kind == kindQueue && properties.flag("FifoQueue", false)
	name := given
	if given == "" {
		name = r.id
		if fifo {
			name += ".fifo"
		}
	}
	at := properties.at(n.property)
	if !n.legal.MatchString(name) {
		t.fail(at, "%s: %s %q: a name is %s", r.id, n.property, name, n.rule)
	}
	if r.kind == kindQueue && fifo != strings.HasSuffix(name, ".fifo") {
		t.fail(at, "%s: QueueName %q: a name ends in .fifo where FifoQueue is true, and only there", r.id, name)
	}
	r.name = name
	return name
}

func (t *template) arn(r *resource) string {
	name := t.physicalName(r)
	switch r.kind {
	case kindQueue:
		return t.arnOf("sqs", name)
	case kindFunction:
		return t.arnOf("lambda", "function:"+name)
	default:
		return t.arnOf("dynamodb", "table/"+name)
	}
}

func (t *template) arnOf(service, rest string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, t.options.Region, t.options.Account, rest)
}

// reference returns the value of Ref for a resource. The second result is false
// for resources that exist only in AWS.
func (t *template) reference(r *resource) (string, bool) {
	switch r.kind {
	case kindQueue:
		return t.options.QueueURL(t.physicalName(r)), true
	case kindTable, kindSimpleTable, kindFunction:
		return t.physicalName(r), true
	}
	return "", false
}

// attribute returns the value of Fn::GetAtt for a resource. The second result
// is false for values that exist only in AWS.
func (t *template) attribute(r *resource, name string) (string, bool) {
	_, read := namings[r.kind]
	switch {
	case read && name == "Arn":
		return t.arn(r), true
	case r.kind == kindQueue && name == "QueueName":
		return t.physicalName(r), true
	case r.kind == kindQueue && name == "QueueUrl":
		return t.options.QueueURL(t.physicalName(r)), true
	}
	return "", false
}

// found returns the resource that a reference names. It returns nil after an
// error if there is none.
func (t *template) found(at *yaml.Node, function, id string) *resource {
	r := t.resource(id)
	if r == nil {
		t.fail(at, "%s %s: no such resource: name one of the template's own", function, id)
		return nil
	}
	if !t.exists(r) {
		t.fail(at, "%s %s: the resource is left out by its condition: use Fn::If with the same condition", function, id)
		return nil
	}
	return r
}
