package samtest_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tools returns the folder of the SAM CLI and cfn-lint.
func tools(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("SAMTEST_TOOLS")
	if folder == "" {
		t.Skip("SAMTEST_TOOLS is not set; make sam-test installs the tools and sets it")
	}
	return folder
}

// tool returns a command that runs in the repository's root, without an AWS
// account.
func tool(t *testing.T, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), name), arguments...)
	cmd.Dir = root
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "AWS_") || name == "AWS_CA_BUNDLE" {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "SAM_CLI_TELEMETRY=0", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	return cmd
}

// run runs a command that must succeed, and returns its standard output and
// standard error.
func run(t *testing.T, cmd *exec.Cmd) (stdout []byte, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args[1:], " "), err, &out, &errs)
	}
	return out.Bytes(), errs.String()
}

// TestSAMValidates checks the template with both tools. They find different
// faults.
func TestSAMValidates(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string][]string{
		"itself": {"validate"}, "with cfn-lint": {"validate", "--lint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, _ := run(t, tool(t, "sam", arguments...))
			if !strings.Contains(string(out), "is a valid SAM Template") {
				t.Errorf("sam %s says %s", strings.Join(arguments, " "), out)
			}
		})
	}
}

// TestSAMDeploysWithoutFlags runs the commands as far as they go without an
// account: everything else that they need is in samconfig.toml.
func TestSAMDeploysWithoutFlags(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"deploy", "sync"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			cmd := tool(t, "sam", command)
			cmd.Stdin = strings.NewReader("y\n") // sam sync asks whether this is a development stack
			out, err := cmd.CombinedOutput()
			failed, ok := errors.AsType[*exec.ExitError](err)
			if !ok || failed.ExitCode() != 1 || !strings.Contains(string(out), "Unable to locate credentials") {
				t.Errorf("%v, want exit code 1 for want of credentials only:\n%s", err, out)
			}
		})
	}
}

// TestSAMConfigurationDisablesTheBuildCache prevents the deployment of outdated binaries
// from SAM's cache, which notices changes only in a function's own folder.
func TestSAMConfigurationDisablesTheBuildCache(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(root, "samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), "cached") {
			t.Errorf("samconfig.toml: %s", line)
		}
	}
	tools(t)
	if _, err := os.Stat(filepath.Join(root, ".aws-sam", "cache")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sam build has left a cache: %v", err)
	}
}
