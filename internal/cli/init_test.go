package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a user does first: build the command, init, make test, make run, make
// check. The module proxy is off, since init promises that nothing is downloaded
// with a checkout.
func TestInitFromABuiltBinary(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the command twice")
	}
	for _, tool := range []string{"go", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s here", tool)
		}
	}
	folder := t.TempDir()
	binary := filepath.Join(folder, "sqsafe")
	output(t, ".", "go", "build", "-o", binary, "../../cmd/sqsafe")
	output(t, folder, binary, "init", "send-mail")
	output(t, folder, binary, "init", "stock", "--fifo", "--dir", "moves")

	mail := filepath.Join(folder, "send-mail")
	if out := output(t, mail, "make", "test"); !strings.Contains(out, "ok  \texample.com/send-mail") {
		t.Errorf("make test: %s", out)
	}
	for name, rows := range map[string][]string{
		"send-mail": {"jobs in", "4", "done", "2", "duplicates recognised", "1", "dead: validation", "1", "lost", "0"},
		"moves":     {"jobs in", "3", "done", "2", "duplicates recognised", "0", "dead: validation", "1", "lost", "0"},
	} {
		out := output(t, filepath.Join(folder, name), "make", "run", "SQSAFE="+binary)
		for i := 0; i < len(rows); i += 2 {
			if !hasRow(out, rows[i], rows[i+1]) {
				t.Errorf("%s: make run has no row %s %s:\n%s", name, rows[i], rows[i+1], out)
			}
		}
	}
	const nothing = "template.yaml: 0 errors, 0 warnings; 1 SQS event"
	if out := output(t, mail, "make", "check"); !strings.Contains(out, nothing) {
		t.Errorf("make check: %s", out)
	}
	output(t, filepath.Join(folder, "moves"), "go", "vet", "./...")
}

func hasRow(out, name, value string) bool {
	for line := range strings.SplitSeq(out, "\n") {
		if fields := strings.Fields(strings.ReplaceAll(line, "│", " ")); strings.Join(fields, " ") == name+" "+value {
			return true
		}
	}
	return false
}

// output runs a command that must succeed.
func output(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, arguments...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
