//go:build unix

package runtimeapi

import (
	"os"
	"syscall"
)

// signalGroup sends the signal to the process and its children. An error only
// means that none of them is left.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }
