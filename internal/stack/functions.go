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
		Events:      events,
	}
	t.checkVisibility(f, properties, s)
	return f, true
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
	case runtime == "" || runtime == "go1.x":
		properties.fail("Runtime", " %q does not run a Go binary: write provided.al2023", runtime)
	case runtime != "provided" && !strings.HasPrefix(runtime, "provided."):
		why("Runtime", " %q does not run a Go binary: write provided.al2023", runtime)
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
		r := t.resource(q.LogicalID)
		if r == nil {
			continue
		}
		seconds := t.properties(r).integer("VisibilityTimeout", defaultVisibility, 0, 43200)
		if visibility := time.Duration(seconds) * time.Second; visibility < f.Timeout {
			properties.fail("Timeout", " of %v is above the VisibilityTimeout of %s, %v: raise that to six times the Timeout",
				f.Timeout, q.LogicalID, visibility)
		}
	}
}
