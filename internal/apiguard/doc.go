// Package apiguard lists what the public packages export, line by line. Its test compares the list with golden files,
// so that no change of the Go API passes a review unseen.
package apiguard
