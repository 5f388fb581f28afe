package scaffold

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed files
var sources embed.FS

var sourceTemplates = template.Must(template.ParseFS(sources, "files/*.tmpl"))

// Options say what the folder is for.
type Options struct {
	// Name is the name of the function and its stack: 1 to 30 lower-case letters,
	// digits and hyphens, with a letter first.
	Name string
	// FIFO asks for FIFO queues.
	FIFO bool
	// Module is where sqsafe comes from.
	Module Module
}

// Module is a version or a checkout of sqsafe.
type Module struct {
	// Version is what go.mod requires.
	Version string
	// GoVersion is the version of Go that go.mod names, at least that of sqsafe; empty for 1.26.
	GoVersion string
	// Checkout is the folder of a checkout that takes its place; empty for none.
	Checkout string
	// Requires are the other modules that go.mod needs, each a path and a version,
	// and Sums the content of go.sum. If they are empty, go mod tidy finds them.
	Requires []string
	Sums     []byte
}

// File is one file of the folder.
type File struct {
	// Path is relative to the folder, with slashes.
	Path    string
	Content []byte
}

// paths are the files of the folder and their sources. go.sum is the last, since
// make compares its time with that of go.mod.
var paths = []struct{ path, source string }{
	{"main.go", "main.go.tmpl"},
	{"main_test.go", "main_test.go.tmpl"},
	{"template.yaml", "template.yaml.tmpl"},
	{"samconfig.toml", "samconfig.toml.tmpl"},
	{"jobs.jsonl", "jobs.jsonl.tmpl"},
	{"events/job.json", "job.json.tmpl"},
	{"Makefile", "Makefile.tmpl"},
	{".gitignore", "gitignore.tmpl"},
	{"go.mod", "go.mod.tmpl"},
}

var goodName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,29}$`)

// CheckName returns an error for a name that AWS or Go would refuse somewhere.
func CheckName(name string) error {
	if !goodName.MatchString(name) || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		return fmt.Errorf("name %q: want 1 to 30 lower-case letters, digits and single hyphens, with a letter first, "+
			"such as send-mail", name)
	}
	if device.MatchString(name) {
		return fmt.Errorf("name %q: it is a device of Windows, so the go command takes no module of that name; "+
			"choose another, such as %s-jobs", name, name)
	}
	return nil
}

// device are the names that the go command refuses in the path of a module.
var device = regexp.MustCompile(`^(con|prn|aux|nul|(com|lpt)[1-9])$`)

// Files returns the files of the folder.
func Files(o Options) ([]File, error) {
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	data := struct {
		Options
		Prefix      string
		MaxReceives int
		Go          string
		Version     string
		Checkout    string
		Requires    []string
		Path        string
	}{
		Options: o, Prefix: prefix(o.Name), MaxReceives: 30, Go: cmp.Or(o.Module.GoVersion, "1.26"),
		Version: o.Module.Version, Checkout: quoted(o.Module.Checkout), Requires: o.Module.Requires,
		Path: "example.com/" + o.Name,
	}
	if o.FIFO {
		data.MaxReceives = 200 // a message is received with each failure of those before it in its group
	}
	var files []File
	for _, p := range paths {
		var out bytes.Buffer
		if err := sourceTemplates.ExecuteTemplate(&out, p.source, data); err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		files = append(files, File{p.path, out.Bytes()})
	}
	if len(o.Module.Sums) > 0 {
		files = append(files, File{"go.sum", slices.Clone(o.Module.Sums)})
	}
	return files, nil
}

// prefix is the name as the begin of logical ids: SendMail for send-mail.
func prefix(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// quoted is a path in go.mod, which needs quotes around some characters.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\"'`,()[]{}\\") {
		return fmt.Sprintf("%q", path)
	}
	return path
}
