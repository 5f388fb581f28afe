// Package archtest holds the shape of the module: which package may import
// which, who may read the environment, and how long files and functions get.
//
// The rules are the table in table.go. The package's tests check it against
// the module, so a change that breaks a rule fails "go test ./...".
package archtest
