package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.yaml.in/yaml/v4"
)

// Options has the values that are not in a template. The zero value works.
type Options struct {
	// Parameters override the defaults of the template's parameters.
	Parameters map[string]string
	// Region is the value of AWS::Region; us-east-1 if empty.
	Region string
	// Account is the value of AWS::AccountId; 123456789012 if empty.
	Account string
	// QueueURL returns a queue's URL for its name; if nil, queues have the URL
	// of AWS.
	QueueURL func(name string) string
	// NoFunctions leaves functions out. FunctionsOptional accepts a template with queues
	// or tables and no function with an SQS event, with a note.
	NoFunctions, FunctionsOptional bool
}

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	if full.Region == "" {
		full.Region = "us-east-1"
	}
	if full.Account == "" {
		full.Account = "123456789012"
	}
	if full.QueueURL == nil {
		full.QueueURL = func(name string) string {
			return fmt.Sprintf("https://sqs.%s.amazonaws.com/%s/%s", full.Region, full.Account, name)
		}
	}
	return full
}

// Read reads the template at path. Every error is an [*Error]: the file does
// not exist, is not a template, has no function with an SQS event, or needs a
// value that cannot be known.
func Read(path string, o *Options) (*Stack, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return parse(path, data, o)
}

func unreadable(path string, err error) *Error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{File: path, Message: "no such template: name an existing file", Err: err}
	}
	cause := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		cause = p.Err
	}
	return &Error{File: path, Message: fmt.Sprintf("the template cannot be read: %v", cause), Err: err}
}

// parse parses a template's text. CodeUri is relative to the directory of path.
func parse(path string, data []byte, o *Options) (*Stack, error) {
	document, alias, err := load(path, data)
	if err != nil {
		return nil, err
	}
	t := &template{file: path, options: o.withDefaults()}
	if alias != nil {
		t.note(alias, "aliases and merges are written out, as SAM's tools do it; CloudFormation itself knows none")
	}
	t.declare(document)
	s := &Stack{}
	if t.err == nil {
		t.readInto(s)
	}
	resources := member(document, "Resources")
	t.checkTransform(resources, loop, "Fn::ForEach", "AWS::LanguageExtensions")
	t.checkTransform(resources, ofSAM, "an AWS::Serverless type", serverless)
	if t.err != nil {
		return nil, t.err
	}
	return s, nil
}

// readInto reads the resources. Functions are read last, since their events
// refer to the queues.
func (t *template) readInto(s *Stack) {
	var functions []*resource
	var foreign []*resource
	for _, r := range t.resources {
		if !t.exists(r) {
			continue
		}
		switch r.kind {
		case kindQueue:
			s.Queues = append(s.Queues, t.queue(r))
		case kindTable, kindSimpleTable:
			s.Tables = append(s.Tables, t.table(r))
		case kindFunction:
			if !t.options.NoFunctions {
				functions = append(functions, r)
			}
		case kindMapping: // read with its function
		default:
			foreign = append(foreign, r)
		}
	}
	if len(foreign) > 0 {
		t.note(&yaml.Node{}, "left alone, since they exist in AWS only: %s", summed(foreign))
	}
	t.linkDeadLetters(s)
	if !t.options.NoFunctions {
		t.readFunctions(functions, s)
	}
	t.checkFunctions(s)
	t.refuseSameNames(s)
	s.Notes = t.notes
}

func (t *template) readFunctions(functions []*resource, s *Stack) {
	mappings := t.mappingsByFunction(functions)
	for _, r := range functions {
		if f, ok := t.function(r, mappings[r], s); ok {
			s.Functions = append(s.Functions, f)
		}
	}
}

// checkFunctions looks at a template in which nothing is to run.
func (t *template) checkFunctions(s *Stack) {
	switch empty := len(s.Queues)+len(s.Tables) == 0; {
	case len(s.Functions) > 0 || t.err != nil:
	case t.options.NoFunctions && empty:
		t.fail(&yaml.Node{}, "neither a queue nor a table: there is nothing to make")
	case t.options.NoFunctions:
	case t.firstSkip != nil:
		t.err = t.firstSkip
	case empty || !t.options.FunctionsOptional:
		t.fail(&yaml.Node{}, "no function with an SQS event: give an %s an event of Type: SQS", kindFunction)
	default:
		t.note(&yaml.Node{}, "no function with an SQS event: there are only its queues and tables")
	}
}

// fewNames is the largest number of resources that a note lists by name.
const fewNames = 6

// summed describes resources: a few by their names, more by their types.
func summed(resources []*resource) string {
	var names, kinds []string
	count := map[string]int{}
	for _, r := range resources {
		names = append(names, r.id)
		if count[r.kind]++; count[r.kind] == 1 {
			kinds = append(kinds, r.kind)
		}
	}
	if len(names) <= fewNames {
		return listed(names)
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d of %s", count[kind], kind)
	}
	return listed(kinds)
}

// refuseSameNames returns an error for two resources with the same name, which
// AWS would refuse.
func (t *template) refuseSameNames(s *Stack) {
	seen := map[string]string{}
	check := func(kind, name, id string) {
		if other, ok := seen[kind+name]; ok {
			t.fail(t.resource(id).node, "%s: %s has the name %s as well: names must differ", id, other, name)
		}
		seen[kind+name] = id
	}
	for _, q := range s.Queues {
		check("queue ", q.Name, q.LogicalID)
	}
	for _, table := range s.Tables {
		check("table ", table.Name, table.LogicalID)
	}
	for _, f := range s.Functions {
		check("function ", f.Name, f.LogicalID)
	}
}
