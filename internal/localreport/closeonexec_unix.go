//go:build unix

package localreport

import (
	"os"
	"syscall"
)

// closeOnExec closes the pipe in programs that the function starts, which must not write
// to it.
func closeOnExec(file *os.File) { syscall.CloseOnExec(int(file.Fd())) }
