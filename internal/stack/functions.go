package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// function reads a function. The second result is false for a function without
// an SQS event, which is skipped.
func (t *template) function(r *resource, mappings []*resource, s *Stack) (Function, bool) {
	properties := t.properties(r)
	t.checkProperties(r, properties)
	events, found := t.events(r, properties, mappings, s)
	if !found {
		t.note(r.node, "%s is left alone: it has no SQS event", r.id)
	}
	if len(events) == 0 || !t.isGo(r, properties) {
		return Function{}, false
	}
	f := Function{
		LogicalID: r.id,
		Name:      t.physicalName(r),
		ARN:       t.arn(r),
		CodeURI:   t.codeURI(properties),
		Handler:   properties.text("Handler"),
		Runtime:   properties.text("Runtime"),
		// The only member of Metadata that is used.
		BuildMethod: t.buildMethod(r),
		// The ranges and defaults are those of Lambda.
		Timeout:     time.Duration(properties.integer("Timeout", 3, 1, longest(properties))) * time.Second,
		MemoryMB:    properties.integer("MemorySize", 128, 128, 10240),
		Environment: t.environment(properties),
		AllowsLoops: properties.text("RecursiveLoop") == "Allow",
		Events:      events,
	}
	t.checkVisibility(f, properties, s)
	t.tellUnused(r, properties)
	return f, true
}

// unused are the properties of a function that change how it runs in AWS, and nothing
// here; what they say in a note is the rest of "PROPERTY has no effect here".
var unused = []struct{ property, more string }{
	{"DeadLetterQueue", ": it is for asynchronous invocations; a message goes to the dead-letter queue of its queue"},
	{"DurableConfig", ": an invocation is never suspended, and a step is not recorded"},
	{"EphemeralStorage", ""},
	{"EventInvokeConfig", ": it is for asynchronous invocations"},
	{"FileSystemConfigs", ": nothing is mounted"},
	{"FunctionScalingConfig", ""},
	{"Layers", ": build what the function needs into its binary"},
	{"ProvisionedConcurrencyConfig", ""},
	{"SnapStart", ""},
	{"VpcConfig", ""},
}

// tellUnused adds notes on properties that have no effect here, and refuses what Lambda
// refuses on a function with an SQS event.
func (t *template) tellUnused(r *resource, properties section) {
	if properties.member("TenancyConfig") != nil {
		properties.fail("TenancyConfig", ": Lambda takes no event source mapping for a function with tenants: remove it")
	}
	for _, u := range unused {
		if properties.member(u.property) != nil {
			t.note(properties.at(u.property), "%s: %s has no effect here%s", r.id, u.property, u.more)
		}
	}
	switch n := properties.text("ReservedConcurrentExecutions"); n {
	case "":
	case "0":
		t.note(properties.at("ReservedConcurrentExecutions"),
			"%s: ReservedConcurrentExecutions of 0 has no effect here; in AWS the function never runs", r.id)
	default:
		t.note(properties.at("ReservedConcurrentExecutions"),
			"%s: ReservedConcurrentExecutions has no effect here; the MaximumConcurrency of an event has", r.id)
	}
}

// longest returns the highest timeout in seconds that Lambda accepts: more for a
// function on instances of a capacity provider.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
func longest(properties section) int {
	if properties.member("CapacityProviderConfig") != nil {
		return 5400
	}
	return 900
}

// codeURI returns the function's folder as an absolute path.
func (t *template) codeURI(properties section) string {
	given := properties.text("CodeUri")
	if t.err != nil {
		return ""
	}
	if given == "" {
		properties.fail("CodeUri", " is missing: name the folder of the function's main package")
		return ""
	}
	if strings.HasPrefix(given, "s3://") {
		properties.fail("CodeUri", " %q is in S3: name a folder on this machine", given)
		return ""
	}
	folder := given
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(t.directory(), folder)
	}
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		properties.fail("CodeUri", " %q: no such folder: name the one of the function's main package", given)
	case !info.IsDir():
		properties.fail("CodeUri", " %q is not a folder: name the one of the function's main package", given)
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		properties.fail("CodeUri", " %q: %v", given, err)
	}
	return absolute
}

// isGo reports whether a function is a Go binary: it needs one of the OS-only
// runtimes. Other functions are skipped, and so are images and functions that
// are built by a tool of another language.
func (t *template) isGo(r *resource, properties section) bool {
	runtime, method := properties.text("Runtime"), t.buildMethod(r)
	why := func(name, format string, args ...any) {
		message := properties.path + ": " + name + fmt.Sprintf(format, args...)
		t.skip(properties.at(name), r.id, &Error{File: t.file, Line: properties.at(name).Line, Message: message})
	}
	switch {
	case t.err != nil:
	case properties.text("PackageType") == "Image":
		why("PackageType", " Image: only a Zip is built and run here")
	case runtime == "":
		properties.fail("Runtime", " is missing: write provided.al2023 for a Go function")
	case runtime == "go1.x":
		properties.fail("Runtime", " %q has been retired by Lambda: write provided.al2023, and Handler: bootstrap", runtime)
	case runtime != "provided" && !strings.HasPrefix(runtime, "provided."):
		why("Runtime", " %q: only Go functions, with provided.al2023, are built and run here", runtime)
	case method != "" && method != "go1.x" && method != "makefile":
		why("BuildMethod", " %q does not build Go: write go1.x or makefile", method)
	default:
		return true
	}
	return false
}

func (t *template) buildMethod(r *resource) string {
	return t.section(r.id+": Metadata", t.resolve(r.metadata), r.node).text("BuildMethod")
}

// checkVisibility returns an error where Lambda does: if the visibility timeout
// of a queue is shorter than the timeout of its function.
func (t *template) checkVisibility(f Function, properties section, s *Stack) {
	for _, event := range f.Events {
		q, _ := s.Queue(event.Queue)
		if q.LogicalID != "" && q.Visibility < f.Timeout {
			properties.fail("Timeout", " of %v is above the VisibilityTimeout of %s, %v: raise that to six times the Timeout",
				f.Timeout, q.LogicalID, q.Visibility)
		}
	}
}
