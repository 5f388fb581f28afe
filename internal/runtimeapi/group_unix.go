//go:build unix && !linux

package runtimeapi

import "syscall"

// attributes starts the child in its own process group, so that Ctrl-C in a
// terminal reaches only the parent.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
