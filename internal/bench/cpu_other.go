//go:build !linux

package main

import (
	"errors"
	"time"
)

// cpuTime is not available on this platform for a running process.
func cpuTime(int) (time.Duration, error) {
	return 0, errors.New("the processor time of another process is only read on Linux")
}
