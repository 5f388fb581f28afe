//go:build unix && !linux

package runtimeapi

import "syscall"

// attributes put the child into a process group of its own, so that Ctrl-C in
// a terminal reaches only the parent.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
