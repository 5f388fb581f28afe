package runtimeapi

import "syscall"

// attributes put the child into a process group of its own, so that Ctrl-C in
// a terminal reaches only the parent, and let it die with the thread that
// started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
