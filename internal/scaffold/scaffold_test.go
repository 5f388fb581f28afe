package scaffold_test

import (
	"encoding/json"
	"flag"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/check"
	"github.com/sqsafe/sqsafe/internal/scaffold"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// released stands for a version that is installed without a checkout.
var released = scaffold.Module{Version: "v1.2.3"}

func files(t *testing.T, o scaffold.Options) map[string]string {
	t.Helper()
	list, err := scaffold.Files(o)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]string{}
	for _, f := range list {
		byPath[f.Path] = string(f.Content)
	}
	return byPath
}

// variants are the folders that init can write.
var variants = map[string]scaffold.Options{
	"standard": {Name: "send-mail", Module: released},
	"fifo":     {Name: "send-mail", FIFO: true, Module: released},
}

func TestFilesGolden(t *testing.T) {
	t.Parallel()
	for name, o := range variants {
		got := ""
		list, err := scaffold.Files(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			got += "-- " + f.Path + " --\n" + string(f.Content)
		}
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got), go test ./internal/scaffold -update if that is right:\n%s", golden, diff)
		}
	}
}

// What init writes keeps our own rules, and is small enough to be read.
func TestTheTemplateIsSoundAndSmall(t *testing.T) {
	t.Parallel()
	for name, o := range variants {
		written := files(t, o)
		report, err := check.Check("template.yaml", []byte(written["template.yaml"]), nil)
		if err != nil || report.Consumers != 1 || len(report.Findings) > 0 {
			t.Errorf("%s: %v, %+v", name, err, report)
		}
		for file, most := range map[string]int{"main.go": 30, "template.yaml": 150} {
			if n := strings.Count(written[file], "\n"); n > most {
				t.Errorf("%s: %s has %d lines, want at most %d", name, file, n, most)
			}
		}
	}
}

// cfn-lint, where it is installed, has nothing to say. The tests of
// internal/samtest ask SAM.
func TestCfnLintAcceptsTheTemplate(t *testing.T) {
	t.Parallel()
	lint, err := exec.LookPath("cfn-lint")
	if err != nil {
		t.Skip("cfn-lint is not installed")
	}
	arguments := []string{"--regions", "us-east-1", "--"}
	for name, o := range variants {
		path := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(path, []byte(files(t, o)["template.yaml"]), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, path)
	}
	if out, err := exec.CommandContext(t.Context(), lint, arguments...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestGoFilesAreFormattedAndEventsAreJSON(t *testing.T) {
	t.Parallel()
	for _, o := range variants {
		for path, content := range files(t, o) {
			switch filepath.Ext(path) {
			case ".go":
				if want, err := format.Source([]byte(content)); err != nil || string(want) != content {
					t.Errorf("%s is not formatted: %v", path, err)
				}
			case ".json":
				if !json.Valid([]byte(content)) {
					t.Errorf("%s is not JSON", path)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"a": true, "send-mail": true, "x2": true, strings.Repeat("a", 30): true,
		"": false, "Send": false, "2x": false, "a_b": false, "a--b": false, "a-": false, "ä": false, "a/b": false,
		strings.Repeat("a", 31): false,
	} {
		if err := scaffold.CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := scaffold.Files(scaffold.Options{Name: "../x"}); err == nil {
		t.Error("a name that leaves the folder is taken")
	}
}

func TestCheckout(t *testing.T) {
	t.Parallel()
	folder := scaffold.FindCheckout("", filepath.Join("..", "..", "no", "such", "file"), mustAbs(t, "."))
	module, err := scaffold.Checkout(folder)
	if err != nil || module.Checkout == "" || len(module.Sums) == 0 {
		t.Fatalf("%+v, %v", module, err)
	}
	mod := files(t, scaffold.Options{Name: "x", Module: module})["go.mod"]
	const other = "github.com/alecthomas/kong v"
	for _, want := range []string{"replace github.com/sqsafe/sqsafe => " + module.Checkout, other} {
		if !strings.Contains(mod, want) {
			t.Errorf("go.mod has no %q:\n%s", want, mod)
		}
	}
	if _, err := scaffold.Checkout(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is no checkout of sqsafe") {
		t.Errorf("an empty folder: %v", err)
	}
	module = scaffold.Module{Version: "v0.0.0", Checkout: "/my code/sqsafe"}
	spaced := files(t, scaffold.Options{Name: "x", Module: module})
	if want := `=> "/my code/sqsafe"`; !strings.Contains(spaced["go.mod"], want) {
		t.Errorf("go.mod has no %s:\n%s", want, spaced["go.mod"])
	}
}

func TestReleased(t *testing.T) {
	t.Parallel()
	installed := &debug.BuildInfo{Main: debug.Module{Path: "github.com/sqsafe/sqsafe", Version: "v1.2.3", Sum: "h1:x"}}
	if m, ok := scaffold.Released(installed); !ok || m.Version != "v1.2.3" || m.Checkout != "" {
		t.Errorf("an installed version: %+v, %v", m, ok)
	}
	built := &debug.BuildInfo{Main: debug.Module{Path: "github.com/sqsafe/sqsafe", Version: "v0.0.0-2030-abc+dirty"}}
	for _, info := range []*debug.BuildInfo{nil, {}, built} {
		if m, ok := scaffold.Released(info); ok {
			t.Errorf("a build of a checkout is %+v", m)
		}
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}

// What docs/start.md shows of the folder is in it.
func TestTheManualShowsWhatInitWrites(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	written := files(t, scaffold.Options{Name: "charge", Module: released})
	blocks := strings.Split(string(page), "```go\n")[1:]
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```\n")
		if !strings.Contains(written["main_test.go"]+written["main.go"], code) {
			t.Errorf("docs/start.md shows what init does not write:\n%s", code)
		}
	}
	if len(blocks) != 2 {
		t.Errorf("docs/start.md shows %d blocks, want the payload and a test", len(blocks))
	}
	for _, name := range []string{"ChargeQueue", "ChargeDeadLetterQueue", "LedgerTable", "ChargeFunction",
		"ChargeQueueUrl"} {
		if !strings.Contains(written["template.yaml"], "  "+name+":") || !strings.Contains(string(page), name) {
			t.Errorf("docs/start.md and the template differ in %s", name)
		}
	}
}
