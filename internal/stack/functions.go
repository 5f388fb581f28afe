package stack

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// function reads a function; the second value is false for one without an SQS
// event, which is left alone.
func (t *template) function(r *resource, s *Stack) (Function, bool) {
	properties := t.properties(r)
	events := t.events(r, properties, s)
	if len(events) == 0 {
		t.note(r.node, "%s is left alone: it has no SQS event", r.id)
		return Function{}, false
	}
	f := Function{
		LogicalID: r.id,
		Name:      t.physicalName(r),
		ARN:       t.arn(r),
		CodeURI:   t.codeURI(properties),
		Handler:   properties.text("Handler"),
		Runtime:   t.runtime(properties),
		// Ranges and defaults are Lambda's.
		Timeout:     time.Duration(properties.integer("Timeout", 3, 1, 900)) * time.Second,
		MemoryMB:    properties.integer("MemorySize", 128, 128, 10240),
		Environment: t.environment(properties),
		Events:      events,
	}
	t.checkVisibility(f, properties, s)
	return f, true
}

// codeURI gives the function's folder as an absolute path.
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

// runtime reads the runtime: only those of an operating system run a binary.
func (t *template) runtime(properties section) string {
	runtime := properties.text("Runtime")
	if runtime != "provided" && !strings.HasPrefix(runtime, "provided.") {
		properties.fail("Runtime", " %q does not run a Go binary: write provided.al2023", runtime)
	}
	return runtime
}

func (t *template) environment(properties section) map[string]string {
	variables := properties.section("Environment").section("Variables")
	environment := map[string]string{}
	for _, e := range entries(variables.node) {
		name := e.key.Value
		if v := variables.member(name); v != nil {
			environment[name] = t.text(v, variables.path+": "+name)
		}
	}
	return environment
}

// checkVisibility refuses what Lambda refuses: a queue whose messages become
// visible again while the function may still be at work.
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
