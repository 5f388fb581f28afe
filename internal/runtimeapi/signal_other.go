//go:build !unix

package runtimeapi

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

const passesFiles = false

// signalGroup ends the process at once: this platform has no signals.
func signalGroup(p *os.Process, _ syscall.Signal) { _ = p.Kill() }
