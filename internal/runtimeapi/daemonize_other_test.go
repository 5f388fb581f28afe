//go:build !linux

package runtimeapi_test

// daemonize is for tests on Linux only.
func daemonize() {}
