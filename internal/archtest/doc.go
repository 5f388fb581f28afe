// Package archtest checks the shape of the module: which package may import which
// (table.go), which files may start goroutines (goroutines.go), in which order the
// files of a package stand (order.go), who may read the environment, which packages
// need a fuzz target (fuzzing.go), how long files and functions get, and what public
// packages document.
//
// The package's tests check these rules against the module, so a change that
// breaks one fails "go test ./...".
package archtest
