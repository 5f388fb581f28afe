package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
)

// runIn runs a program of an image as a container would: its files alone, and the user of the image. Only root may.
func runIn(t *testing.T, root, program string, env []string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Log("not run: only root may change the root of files")
		return
	}
	for _, err := range []error{os.Chmod(root, 0o755), os.Chown(root+"/home/nonroot", userID, userID)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	env = append(env, "PAYMENT_URL=https://payments.example.com", "AWS_REGION=eu-west-1")
	runs := map[string]struct {
		args []string
		code int
		want string // a pattern
	}{
		"/ko-app/sqsafe":        {[]string{"version"}, 0, `^sqsafe v\d+\.`},
		"/ko-app/charge-worker": {nil, 1, "SQSAFE_QUEUE_URL"},
	}
	run := runs[program]
	cmd := exec.CommandContext(t.Context(), program, run.args...)
	cmd.Env, cmd.Dir = env, "/home/nonroot"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: userID, Gid: userID}}
	out, err := cmd.CombinedOutput()
	if exit, _ := errors.AsType[*exec.ExitError](err); err != nil && exit == nil {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != run.code || !regexp.MustCompile(run.want).Match(out) {
		t.Errorf("%s %v: exit code %d and %q, want %d and %q", program, run.args, code, out, run.code, run.want)
	}
}
