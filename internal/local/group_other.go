//go:build !unix

package local

import (
	"os/exec"
	"time"
)

// killTogether bounds the wait for what the command has started.
func killTogether(cmd *exec.Cmd) { cmd.WaitDelay = time.Second }
