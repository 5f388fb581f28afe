//go:build unix

package local

import (
	"os/exec"
	"syscall"
	"time"
)

// killTogether makes the end of the command's context end all that it has
// started: a make's compiler would hold its output open, and a signal to us
// would have to wait for it.
func killTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}
