//go:build unix

package localreport

import (
	"os"
	"syscall"
)

// keep keeps the pipe from programs that the function starts.
func keep(file *os.File) { syscall.CloseOnExec(int(file.Fd())) }
