package stack

import (
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The resource types that are read.
const (
	kindFunction    = "AWS::Serverless::Function"
	kindQueue       = "AWS::SQS::Queue"
	kindTable       = "AWS::DynamoDB::Table"
	kindSimpleTable = "AWS::Serverless::SimpleTable"
	kindMapping     = "AWS::Lambda::EventSourceMapping"
)

// template is a template while it is read. Its methods keep the first error
// and go on with zero values, so that errors need checking only at the end.
type template struct {
	file       string
	options    Options
	parameters map[string]*parameter
	conditions map[string]*condition
	mappings   *yaml.Node
	globals    *yaml.Node
	resources  []*resource
	notes      []string
	err        *Error
	// aside is why the first thing was left alone that would be run otherwise.
	aside *Error
	// standIns makes values that exist in AWS only read as their names.
	standIns bool
}

// resource is a member of the template's Resources.
type resource struct {
	id         string
	kind       string
	node       *yaml.Node // the key: its line is the resource's
	condition  *yaml.Node
	properties *yaml.Node
	metadata   *yaml.Node

	name   string // the physical name, once it is known
	naming bool   // the name is being found out
}

// fail keeps the first error.
func (t *template) fail(n *yaml.Node, format string, args ...any) {
	if t.err == nil {
		t.err = &Error{File: t.file, Line: n.Line, Message: fmt.Sprintf(format, args...)}
	}
}

func (t *template) note(n *yaml.Node, format string, args ...any) {
	line := &Error{File: t.file, Line: n.Line, Message: fmt.Sprintf(format, args...)}
	t.notes = append(t.notes, line.Error())
}

// failElsewhere is fail for what exists in AWS only.
func (t *template) failElsewhere(n *yaml.Node, format string, args ...any) {
	if t.err == nil {
		t.fail(n, format, args...)
		t.err.elsewhere = true
	}
}

// attempt reads something and takes back the error of failElsewhere.
func (t *template) attempt(read func()) *Error {
	if t.err != nil {
		return nil //nolint:nilerr // it stays in t.err and ends the reading
	}
	read()
	if t.err == nil || !t.err.elsewhere {
		return nil
	}
	e := t.err
	t.err = nil
	return e
}

// setAside notes that something is left alone and why; if in the end nothing is
// left to run, that is the error.
func (t *template) setAside(n *yaml.Node, what string, why *Error) {
	t.note(n, "%s is left alone: %s", what, strings.TrimPrefix(why.Message, what+": "))
	if t.aside == nil {
		t.aside = why
	}
}

// directory is where the template lies.
func (t *template) directory() string { return filepath.Dir(t.file) }

// declare takes in the template's sections.
func (t *template) declare(root *yaml.Node) {
	for _, name := range []string{"Parameters", "Conditions", "Mappings", "Globals", "Resources"} {
		if n := member(root, name); n != nil && n.Kind != yaml.MappingNode {
			t.fail(n, "%s must be a mapping", name)
		}
	}
	t.mappings = member(root, "Mappings")
	t.checkGlobals(member(root, "Globals"))
	t.globals = member(member(root, "Globals"), "Function")
	t.declareParameters(member(root, "Parameters"))
	t.declareConditions(member(root, "Conditions"))
	t.declareResources(member(root, "Resources"))
}

func (t *template) declareResources(n *yaml.Node) {
	for _, e := range entries(n) {
		if strings.HasPrefix(e.key.Value, "Fn::") {
			t.note(e.key, "%s is left alone: loops are not read", e.key.Value)
			continue
		}
		r := &resource{
			id: e.key.Value, node: e.key,
			condition:  member(e.value, "Condition"),
			properties: member(e.value, "Properties"),
			metadata:   member(e.value, "Metadata"),
		}
		if kind := member(e.value, "Type"); kind != nil {
			r.kind = kind.Value
			t.checkKind(r, kind)
		}
		if r.kind == "" {
			t.fail(e.key, "%s has no Type: give it one, such as %s", r.id, kindQueue)
		}
		t.resources = append(t.resources, r)
	}
}

// resource finds a resource by its logical id; nil if there is none.
func (t *template) resource(id string) *resource {
	for _, r := range t.resources {
		if r.id == id {
			return r
		}
	}
	return nil
}

// ids lists the resources of a type.
func (t *template) ids(kind string) string {
	var ids []string
	for _, r := range t.resources {
		if r.kind == kind {
			ids = append(ids, r.id)
		}
	}
	return listed(ids)
}

// exists tells whether a resource's condition holds.
func (t *template) exists(r *resource) bool {
	return r.condition == nil || t.condition(r.condition)
}
