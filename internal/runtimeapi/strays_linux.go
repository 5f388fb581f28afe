package runtimeapi

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// strayPasses bounds the search for processes that start others while they are ended.
const strayPasses = 10

// killStrays ends the processes that a function's process has left in other process
// groups. They are known by their environment, which has the address of the Runtime API of
// that process alone. One that has another group and another environment stays.
func killStrays(address string) {
	mark := []byte("\x00AWS_LAMBDA_RUNTIME_API=" + address + "\x00")
	for range strayPasses {
		if !killMarked(mark) {
			return
		}
	}
}

// killMarked reports whether there was a process to end.
func killMarked(mark []byte) (found bool) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range environments {
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, data...), mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
			found = true
		}
	}
	return found
}
