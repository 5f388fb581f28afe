package archtest

import (
	"fmt"
	"slices"
)

// CheckHosts reports the files that read the environment or end the process in a
// package that may not.
func CheckHosts(rows []Row, files []File) []string {
	var problems []string
	for _, f := range files {
		if row, ok := rowOf(rows, f.Package()); f.IsTest() || ok && row.Host {
			continue
		}
		found := slices.Concat(
			f.calls("os", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Exit"),
			f.calls("syscall", "Getenv", "Environ", "Exit"),
			f.calls("log", "Fatal", "Fatalf", "Fatalln"),
		)
		for _, call := range found {
			problems = append(problems, fmt.Sprintf(
				"%s: %s: only hosts read the environment or end the process: take the value as an argument, return an error",
				f.At(call), call.Sel.Name))
		}
	}
	return problems
}

// CheckSleeps reports the tests that call time.Sleep.
func CheckSleeps(files []File) []string {
	var problems []string
	for _, f := range files {
		if !f.IsTest() && !isTestPackage(f.Package()) {
			continue
		}
		for _, call := range f.calls("time", "Sleep") {
			problems = append(problems, fmt.Sprintf(
				"%s: time.Sleep in a test: wait for the event itself, or use the injected clock or testing/synctest",
				f.At(call)))
		}
	}
	return problems
}
