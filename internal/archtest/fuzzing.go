package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// Unfuzzed returns the packages that read texts and need no fuzz target, each with the
// reason.
func Unfuzzed() map[string]string {
	const program = "a program of the tests or of the demo reads what another part of it has written"
	return map[string]string{
		"./functions/internal/charge":    "the sample decodes the answer of its provider, by the library alone",
		"./functions/internal/notify":    "the sample decodes the answer of its provider, by the library alone",
		"./internal/bench":               program,
		"./internal/bench/bare":          program,
		"./internal/bench/byhand":        program,
		"./internal/chaos":               program,
		"./internal/chaos/job":           program,
		"./internal/coverage":            "it reads the output of go test",
		"./internal/release/images":      "it reads the output of git",
		"./internal/systems":             "it reads the output of go list",
		"./internal/crashproof/function": program,
		"./internal/demo":                program,
		"./internal/demo/provider":       program,
		"./internal/endpoint":            "one URL, by the library alone",
		"./internal/localaws":            "it looks into requests that the emulators then decode, and these are fuzzed",
		"./internal/localreport":         "one number, which the local host writes",
		"./internal/parity/function":     program,
		"./internal/simulation":          "it reads two numbers of the command line",
	}
}

// parsers are the functions that read a text, by their packages.
var parsers = map[string][]string{
	"encoding/json":      {"Unmarshal", "NewDecoder"},
	"encoding/xml":       {"Unmarshal", "NewDecoder"},
	"go.yaml.in/yaml/v4": {"Load", "Unmarshal"},
	"net/http":           {"ParseTime"},
	"net/url":            {"Parse", "ParseQuery"},
	"strconv":            {"Atoi", "ParseInt", "ParseUint", "ParseFloat", "ParseBool", "Unquote"},
	"time":               {"Parse", "ParseDuration"},
}

// CheckFuzzing reports the packages that read texts and have no fuzz target, and those in
// except that need not be there. Packages of tests are left out.
func CheckFuzzing(files []File, except map[string]string) []string {
	reads, fuzzed := map[string]string{}, map[string]bool{}
	for _, f := range files {
		switch {
		case f.IsTest():
			fuzzed[f.Package()] = fuzzed[f.Package()] || f.hasFuzzTarget()
		case reads[f.Package()] == "" && !isTestPackage(f.Package()):
			reads[f.Package()] = f.reads()
		}
	}
	var problems []string
	for _, pkg := range slices.Sorted(maps.Keys(reads)) {
		if at := reads[pkg]; at != "" && !fuzzed[pkg] && except[pkg] == "" {
			problems = append(problems, fmt.Sprintf("%s: %s reads a text and has no fuzz target: "+
				"add one with the seeds that matter, or the reason why not to Unfuzzed in internal/archtest/fuzzing.go", at, pkg))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(except)) {
		if reads[pkg] == "" || fuzzed[pkg] {
			problems = append(problems, pkg+" is in Unfuzzed and reads no text, or has a fuzz target: take it out")
		}
	}
	return problems
}

// reads returns where the file reads a text; empty if it does not.
func (f File) reads() string {
	for _, pkg := range slices.Sorted(maps.Keys(parsers)) {
		if found := f.calls(pkg, parsers[pkg]...); len(found) > 0 {
			return f.At(found[0])
		}
	}
	return ""
}

func (f File) hasFuzzTarget() bool {
	return slices.ContainsFunc(f.AST.Decls, func(d ast.Decl) bool {
		function, ok := d.(*ast.FuncDecl)
		return ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Fuzz")
	})
}
