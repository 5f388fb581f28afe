package release_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"github.com/sqsafe/sqsafe/internal/release"
)

// values are what templates in .goreleaser.yaml may use.
var values = map[string]string{
	"ProjectName": "sqsafe", "Version": "1.2.3", "Tag": "v1.2.3", "ArtifactName": "sqsafe",
	"CommitTimestamp": "1796083200",
}

// fill executes a template of goreleaser.
func fill(t *testing.T, text, target string) string {
	t.Helper()
	all := maps.Clone(values)
	if system, machine, found := strings.Cut(target, "_"); found {
		machine, _, _ = strings.Cut(machine, "_")
		all["Os"], all["Arch"] = system, machine
	}
	functions := template.FuncMap{"envOrDefault": func(_, otherwise string) string { return otherwise }}
	parsed, err := template.New("").Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, all); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return out.String()
}

// TestFilesOfARelease finds what goreleaser would fail on, or what would be missing in a release. make release-dry
// makes the files themselves.
func TestFilesOfARelease(t *testing.T) {
	t.Parallel()
	c := decode[release.Configuration](t, ".goreleaser.yaml")
	makefile := read(t, "Makefile")

	names := map[string]bool{}
	for _, target := range c.Builds[0].Targets {
		names[fill(t, c.Archives[0].Name, target)] = true
		names[fill(t, c.SBOMs[0].Documents[0], target)] = true
	}
	if want := 2 * len(c.Builds[0].Targets); len(names) != want || !names["sqsafe_1.2.3_linux_arm64"] {
		t.Errorf("archives and lists of modules have %d different names, want %d: %v", len(names), want, names)
	}
	if footer := fill(t, c.Release.Footer, ""); !strings.Contains(footer, "/blob/v1.2.3/CHANGELOG.md") {
		t.Errorf("the footer of a release does not lead to its changes: %s", footer)
	}
	fill(t, c.Builds[0].Timestamp, "")

	files := sources(c)
	if len(files) < 6 {
		t.Errorf("a release contains only %v: is the list still read?", files)
	}
	for _, file := range files {
		if made, ok := strings.CutPrefix(file, ".build/"); ok {
			if !strings.Contains(makefile, "> $(OUT)/"+made+"\n") {
				t.Errorf("a release contains %s, and no target of the Makefile writes it", file)
			}
		} else if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Errorf("a release contains %s: %v", file, err)
		}
	}
	for _, hook := range c.Before.Hooks {
		if target, _ := strings.CutPrefix(hook, "make "); !strings.Contains(makefile, "\n"+target+":") {
			t.Errorf("before a release %q is run: the Makefile has no such target", hook)
		}
	}
	if !strings.Contains(makefile, "$(OUT)/tools/"+c.SBOMs[0].Command+"\n") {
		t.Errorf("the Makefile does not install %s", c.SBOMs[0].Command)
	}
	workflow := read(t, ".github/workflows/release.yml")
	for _, file := range []string{"dist/" + c.Checksum.Name, ".build/images/digests.txt"} {
		if !strings.Contains(workflow, "subject-checksums: "+file+"\n") {
			t.Errorf("the release workflow does not sign the origin of what is in %s", file)
		}
	}
	if !regexp.MustCompile(`TAP_GITHUB_TOKEN`).MatchString(c.Casks[0].Repository.Token) ||
		fill(t, c.Casks[0].Repository.Token, "") != "" {
		t.Errorf("the token of the tap is %q, want that of the workflow, and none in a dry run", c.Casks[0].Repository.Token)
	}
}

// sources are the files of this repository that a release contains.
func sources(c release.Configuration) (files []string) {
	for _, file := range c.Archives[0].Files {
		switch file := file.(type) {
		case string:
			files = append(files, file)
		case map[string]any:
			name, _ := file["src"].(string)
			files = append(files, name)
		}
	}
	for _, file := range c.Packages[0].Contents {
		files = append(files, file.Source)
	}
	return files
}
