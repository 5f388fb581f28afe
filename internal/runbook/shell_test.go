package runbook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/cli"
)

// patience is the maximum duration of the commands of a chapter.
const patience = 5 * time.Minute

// shell is a bash process that runs one block after another.
type shell struct {
	t      *testing.T
	folder string
	in     io.Writer
	out    *bufio.Reader
	blocks int
}

// tools returns the folder of the AWS CLI.
func tools(t *testing.T) string {
	t.Helper()
	if folder := os.Getenv("RUNBOOK_TOOLS"); folder != "" {
		return folder
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", ".build", "awscli", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "aws")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v; CI makes it with make runbook-venv", err)
		}
		t.Skip("the AWS CLI is not here; make runbook-venv installs it")
	}
	return folder
}

// ownTools returns a folder with the command sqsafe, which is this test binary: see TestMain.
func ownTools(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(self, filepath.Join(folder, command)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// command is the name under which the test binary is the command sqsafe.
const command = "sqsafe"

// TestMain makes the test binary the command sqsafe if it is started by that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == command {
		streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		os.Exit(cli.Run(cli.UntilSignal(), os.Args[1:], streams))
	}
	os.Exit(m.Run())
}

// startShell starts a bash whose AWS CLI uses only the endpoint.
func startShell(t *testing.T, tools, endpoint string) *shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	bash := exec.CommandContext(ctx, "bash", "--noprofile", "--norc")
	s := &shell{t: t, folder: t.TempDir()}
	bash.Dir = s.folder
	bash.Env = []string{
		"PATH=" + strings.Join([]string{ownTools(t), tools, os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME=" + s.folder, "LC_ALL=C.UTF-8",
		"AWS_ENDPOINT_URL=" + endpoint, "AWS_DEFAULT_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_MAX_ATTEMPTS=1",
		// An invalid proxy: only this machine can be reached.
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1",
	}
	in, err := bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := bash.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	bash.Stderr = bash.Stdout
	if err := bash.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	// Version 1 of the CLI uses an older address of SQS and ignores
	// AWS_ENDPOINT_URL for it.
	s.run(`aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }`)
	t.Cleanup(func() {
		_ = in.Close()
		if err := bash.Wait(); err != nil {
			t.Errorf("the shell: %v", err)
		}
		cancel()
	})
	return s
}

// endOfBlock separates the output from the exit code.
const endOfBlock = "\x1e"

// run runs the commands as if they were pasted. It returns their output and the
// exit code of the last.
func (s *shell) run(commands string) (printed, code string) {
	s.t.Helper()
	s.blocks++
	file := filepath.Join(s.t.TempDir(), fmt.Sprintf("block%d.sh", s.blocks))
	if err := os.WriteFile(file, []byte(commands), 0o600); err != nil {
		s.t.Fatal(err)
	}
	_, err := fmt.Fprintf(s.in, ". %s </dev/null; printf '\\036%%d\\n' $?\n", file)
	if err != nil {
		s.t.Fatal(err)
	}
	var all strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the shell has ended: %v\n%s%s", err, &all, line)
		}
		text, end, ok := strings.Cut(line, endOfBlock)
		all.WriteString(text)
		if ok {
			return all.String(), strings.TrimSpace(end)
		}
	}
}
