package runtimeapi

import "syscall"

// attributes starts the child in its own process group, so that Ctrl-C in a
// terminal reaches only the parent, and makes the child end with the thread
// that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
