//go:build unix

package runtimeapi

import (
	"os"
	"syscall"
)

// passesFiles says that a process can be given open files.
const passesFiles = true

// signalGroup sends the signal to the process and its children. An error only
// means that none of them is left.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }
