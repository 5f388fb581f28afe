//go:build unix

package runtimeapi

import (
	"os"
	"syscall"
)

// signalGroup reaches the process and whatever it started. An error says only
// that nothing of the group is left.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }
