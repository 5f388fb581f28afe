package release_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/release"
)

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode[T any](t *testing.T, name string) T {
	t.Helper()
	value, err := release.Read[T](root, name, filepath.Dir(name) == ".") // of workflows only a part has rules
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestWorkflowsOnlyCallWhatRunsAnywhere allows no logic in a step of a workflow: what CI checks, everyone can run.
func TestWorkflowsOnlyCallWhatRunsAnywhere(t *testing.T) {
	t.Parallel()
	ours := regexp.MustCompile(`^(sudo --preserve-env env "PATH=\$PATH" )?` +
		`(bash \.ci/run( release)?|make [a-z-]+( STRICT=1)?)$`)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	for _, file := range files {
		name := ".github/workflows/" + filepath.Base(file)
		w := decode[release.Workflow](t, name)
		if diff := cmp.Diff(map[string]string{"contents": "read"}, w.Permissions); diff != "" {
			t.Errorf("%s: permissions of all jobs (-want +got):\n%s", name, diff)
		}
		for id, job := range w.Jobs {
			if job.Timeout == 0 || job.Timeout > 90 {
				t.Errorf("%s: job %s has timeout-minutes %d, wants 1 to 90", name, id, job.Timeout)
			}
			for _, step := range job.Steps {
				if step.Run != "" && !ours.MatchString(step.Run) {
					t.Errorf("%s: job %s runs %q: put it into .ci/run or the Makefile", name, id, step.Run)
				}
			}
		}
	}
}

// TestActionsArePinned wants a commit with the version as a comment, since a tag can be moved.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`uses: *(\S+)(.*)`)
	pinned := regexp.MustCompile(`^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		name := ".github/workflows/" + filepath.Base(file)
		for _, match := range uses.FindAllStringSubmatch(read(t, name), -1) {
			found++
			if !pinned.MatchString(match[1] + match[2]) {
				t.Errorf("%s: %q is not pinned: want NAME@COMMIT # vX.Y.Z", name, match[1]+match[2])
			}
		}
	}
	if found == 0 {
		t.Error("no workflow uses an action: the test shows nothing")
	}
}

// TestReleasesAreWhatIsCompiledInCI compares the systems of .goreleaser.yaml with those of the Makefile.
func TestReleasesAreWhatIsCompiledInCI(t *testing.T) {
	t.Parallel()
	c := decode[release.Configuration](t, ".goreleaser.yaml")
	_, line, _ := strings.Cut(read(t, "Makefile"), "\nSYSTEMS ?= ")
	line, _, _ = strings.Cut(line, "\n")
	want := strings.Fields(line)
	version := regexp.MustCompile(`_v\d(\.\d)?$`)
	for _, build := range c.Builds {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(build.Main), "main.go")); err != nil {
			t.Errorf("build %s: %v", build.ID, err)
		}
		var got []string
		for _, target := range build.Targets {
			got = append(got, strings.ReplaceAll(version.ReplaceAllString(target, ""), "_", "/"))
		}
		if build.ID == "sqsafe" {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("systems of the Makefile and of .goreleaser.yaml (-want +got):\n%s", diff)
			}
		}
	}
}

// TestImagesAreBuiltAsPrograms compares .ko.yaml with .goreleaser.yaml and with the list of images.
func TestImagesAreBuiltAsPrograms(t *testing.T) {
	t.Parallel()
	program := decode[release.Configuration](t, ".goreleaser.yaml").Builds[0]
	list := read(t, "internal/release/images/main.go")
	for _, image := range decode[release.Images](t, ".ko.yaml").Builds {
		if !strings.Contains(list, `{"`+image.ID+`", "`+image.Main+`",`) {
			t.Errorf("internal/release/images does not build %s of %s", image.ID, image.Main)
		}
		want := release.Build{
			ID: image.ID, Main: image.Main, Env: program.Env, LDFlags: program.LDFlags,
			Flags: []string{"-buildvcs=true", "-tags=timetzdata"}, // ko adds -trimpath
		}
		if diff := cmp.Diff(want, image); diff != "" {
			t.Errorf("image %s (-want +got):\n%s", image.ID, diff)
		}
	}
}

// TestOwnersExist finds rules of CODEOWNERS that match nothing any more.
func TestOwnersExist(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(read(t, ".github/CODEOWNERS")) {
		pattern, owners, found := strings.Cut(strings.TrimSpace(line), " ")
		if pattern == "" || pattern == "#" || pattern == "*" {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(pattern))); err != nil || !found {
			t.Errorf("CODEOWNERS: %q with the owners %q: %v", pattern, strings.TrimSpace(owners), err)
		}
	}
}
