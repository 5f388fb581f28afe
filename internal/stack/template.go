package stack

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// The resource types that are read.
const (
	kindFunction    = "AWS::Serverless::Function"
	kindQueue       = "AWS::SQS::Queue"
	kindTable       = "AWS::DynamoDB::Table"
	kindSimpleTable = "AWS::Serverless::SimpleTable"
	kindMapping     = "AWS::Lambda::EventSourceMapping"
)

// template is a template that is being read. Its methods keep the first error
// and continue with zero values, so that callers need to check for errors only
// at the end.
type template struct {
	file       string
	options    Options
	parameters map[string]*parameter
	conditions map[string]*condition
	transforms []string
	mappings   *yaml.Node
	globals    *yaml.Node
	resources  []*resource
	notes      []string
	err        *Error
	// firstSkip is the reason for the first skipped part that could have been run.
	firstSkip *Error
	// placeholders says that values that exist only in AWS become placeholders.
	placeholders bool
}

// resource is a member of the template's Resources.
type resource struct {
	id         string
	kind       string
	node       *yaml.Node // the key; its line is that of the resource
	condition  *yaml.Node
	properties *yaml.Node
	metadata   *yaml.Node

	name   string // the physical name, after it was determined
	naming bool   // whether the name is being determined
}

// fail records the first error.
func (t *template) fail(n *yaml.Node, format string, args ...any) {
	if t.err == nil {
		t.err = &Error{File: t.file, Line: n.Line, Message: fmt.Sprintf(format, args...)}
	}
}

func (t *template) note(n *yaml.Node, format string, args ...any) {
	line := &Error{File: t.file, Line: n.Line, Message: fmt.Sprintf(format, args...)}
	t.notes = append(t.notes, line.Error())
}

// failElsewhere is like fail, for values that exist only in AWS.
func (t *template) failElsewhere(n *yaml.Node, format string, args ...any) {
	if t.err == nil {
		t.fail(n, format, args...)
		t.err.Elsewhere = true
	}
}

// attempt calls read. It removes and returns an error of failElsewhere.
func (t *template) attempt(read func()) *Error {
	if t.err != nil {
		return nil //nolint:nilerr // it stays in t.err and ends the reading
	}
	read()
	if t.err == nil || !t.err.Elsewhere {
		return nil
	}
	e := t.err
	t.err = nil
	return e
}

// skip adds a note that a part is skipped, and why. If at the end there is
// nothing to run, the first such reason is the error.
func (t *template) skip(n *yaml.Node, what string, why *Error) {
	t.note(n, "%s is left alone: %s", what, strings.TrimPrefix(why.Message, what+": "))
	if t.firstSkip == nil {
		t.firstSkip = why
	}
}

// directory returns the directory of the template.
func (t *template) directory() string { return filepath.Dir(t.file) }

// declare reads the template's sections.
func (t *template) declare(root *yaml.Node) {
	for _, name := range []string{"Parameters", "Conditions", "Mappings", "Globals", "Resources"} {
		if n := member(root, name); n != nil && n.Kind != yaml.MappingNode {
			t.fail(n, "%s must be a mapping", name)
		}
	}
	t.transforms = transforms(member(root, "Transform"))
	t.mappings = member(root, "Mappings")
	t.checkGlobals(member(root, "Globals"))
	t.globals = member(member(root, "Globals"), "Function")
	t.declareParameters(member(root, "Parameters"))
	t.declareConditions(t.unrolled(member(root, "Conditions")))
	t.declareResources(t.unrolled(member(root, "Resources")))
}

// unrolled writes out the loops of a section. One whose collection is known in
// AWS only is left alone, with a note.
func (t *template) unrolled(n *yaml.Node) *yaml.Node {
	if n == nil || t.err != nil {
		return n
	}
	unrolled, open, err := cfn.Unroll(t.file, n, func(collection *yaml.Node) (items []string, known bool) {
		elsewhere := t.attempt(func() { items = t.texts(collection, "Fn::ForEach") })
		return items, elsewhere == nil
	})
	if problem, ok := errors.AsType[*Error](err); ok && t.err == nil {
		t.err = problem
	}
	for _, key := range open {
		const why = "what it goes through is known in AWS only"
		t.skip(key, key.Value, &Error{File: t.file, Line: key.Line, Message: key.Value + ": " + why +
			": let it go through a list, or through a parameter with a value"})
	}
	return unrolled
}

// logicalID matches what CloudFormation takes. Ids are used in names of files and of make
// targets.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html
var logicalID = regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)

// The transforms that a template may need.
const serverless = "AWS::Serverless-2016-10-31"

// transforms returns the names in the section Transform: a text, or a list of them.
func transforms(n *yaml.Node) (names []string) {
	if n == nil {
		return nil
	}
	for _, one := range append([]*yaml.Node{n}, n.Content...) {
		if one.Kind == yaml.ScalarNode {
			names = append(names, one.Value)
		}
	}
	return names
}

// checkTransform returns an error where CloudFormation does: if something of a section
// needs a transform that the template does not name.
func (t *template) checkTransform(n *yaml.Node, needs func(entry) bool, what, transform string) {
	if slices.Contains(t.transforms, transform) {
		return
	}
	for _, e := range entries(n) {
		if needs(e) {
			t.fail(e.key, "%s: %s needs Transform: %s at the top of the template: add it", e.key.Value, what, transform)
			return
		}
	}
}

func loop(e entry) bool { return strings.HasPrefix(e.key.Value, "Fn::ForEach::") }

// ofSAM reports whether a resource is of a type that only SAM has.
func ofSAM(e entry) bool {
	kind := member(e.value, "Type")
	return kind != nil && strings.HasPrefix(kind.Value, "AWS::Serverless::")
}

func (t *template) declareResources(n *yaml.Node) {
	for _, e := range entries(n) {
		if !logicalID.MatchString(e.key.Value) {
			t.fail(e.key, "%.80q is no logical id: it has 1 to 255 letters and digits, and nothing else", e.key.Value)
		}
		if t.resource(e.key.Value) != nil {
			t.fail(e.key, "%s is made twice by a loop: put its identifier into the logical id", e.key.Value)
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

// resource returns the resource with this logical id, or nil if there is none.
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

// exists reports whether a resource's condition is true.
func (t *template) exists(r *resource) bool {
	return r.condition == nil || t.condition(r.condition)
}
