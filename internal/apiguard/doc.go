// Package apiguard lists what the public packages export, line by line. Its test compares the list with golden files,
// so that a review shows each change of the Go API.
package apiguard
