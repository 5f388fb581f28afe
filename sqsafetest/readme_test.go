package sqsafetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program at the top of README.md compiles, and its Validate is the one that the tests
// of docs/testing.md use.
func TestTheProgramOfTheReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "```go\n")
	program, _, _ := strings.Cut(text, "```\n")
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, validate, _ := strings.Cut(program, "// Validate")
	validate, _, found := strings.Cut(validate, "\n}\n")
	if !found || !strings.Contains(string(examples), validate) {
		t.Errorf("the tests have another Validate than the program:\n%s", program)
	}
}

// A coding assistant writes what skills/sqsafe/SKILL.md shows: its function compiles and its
// test passes.
func TestTheProgramOfTheSkill(t *testing.T) {
	t.Parallel()
	skill, err := os.ReadFile("../skills/sqsafe/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(skill), "```go\n")
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of Go, want a program and its test", len(blocks)-1)
	}
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "main.go"), filepath.Join(dir, "main_test.go")}
	for i, file := range files {
		text, _, _ := strings.Cut(blocks[i+1], "```\n")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"test", "-v"}, files...)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestBusyThenDone") {
		t.Errorf("%v\n%s", err, out)
	}
}
