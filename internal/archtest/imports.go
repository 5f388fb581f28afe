package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// CheckImports tells what in the packages goes against the table.
func CheckImports(rooms []Room, packages []Package) []string {
	var problems []string
	for _, p := range packages {
		room, ok := roomOf(rooms, p.Path)
		if !ok {
			problems = append(problems, fmt.Sprintf(
				"%s is in no row of the import table: add a row to internal/archtest/table.go that says what it may import",
				p.Path))
			continue
		}
		problems = append(problems, checkDirect(room, p)...)
		problems = append(problems, checkTests(room, p)...)
		problems = append(problems, checkLinked(room, p)...)
	}
	return append(problems, checkRows(rooms, packages)...)
}

// checkRows finds rows that have outlived their packages.
func checkRows(rooms []Room, packages []Package) []string {
	var problems []string
	for _, room := range rooms {
		if !slices.ContainsFunc(packages, func(p Package) bool { return matches(room.Path, p.Path) }) {
			problems = append(problems, fmt.Sprintf(
				"row %q of the import table fits no package: remove it from internal/archtest/table.go", room.Path))
		}
	}
	return problems
}

func checkDirect(room Room, p Package) []string {
	var problems []string
	allowed := append(slices.Clone(room.Ours), room.Third...)
	for _, imported := range p.Imports {
		switch {
		case isTesting(imported) && !isTestPackage(p.Path):
			problems = append(problems, fmt.Sprintf(
				"%s imports %s outside of its tests: only packages named …test may", p.Path, imported))
		case !standard(imported) && !matchesAny(allowed, imported):
			problems = append(problems, fmt.Sprintf(
				"%s imports %s, which the import table does not allow: turn the dependency round with an interface here, "+
					"or change the row %q in internal/archtest/table.go and say why in docs/decisions.md",
				p.Path, imported, room.Path))
		}
	}
	return problems
}

func checkTests(room Room, p Package) []string {
	var problems []string
	allowed := slices.Concat(room.Ours, room.Third, room.Tests, TestKit())
	for _, imported := range p.TestImports {
		kit := matches(anyOurs, imported) && isTestPackage(imported)
		if kit || standard(imported) || imported == p.Path || matchesAny(allowed, imported) {
			continue
		}
		problems = append(problems, fmt.Sprintf(
			"tests of %s import %s, which neither its row %q nor TestKit in internal/archtest/table.go allows",
			p.Path, imported, room.Path))
	}
	return problems
}

func checkLinked(room Room, p Package) []string {
	var problems []string
	for _, dep := range p.Deps {
		if !standard(dep) && matchesAny(room.Never, dep) {
			problems = append(problems, fmt.Sprintf(
				"%s links %s, which its row %q forbids: find the way with \"go mod why\" or \"go list -deps\"",
				p.Path, dep, room.Path))
		}
	}
	return problems
}

// roomOf gives the row of the package itself or, failing that, the one with
// the longest path above it.
func roomOf(rooms []Room, pkg string) (Room, bool) {
	var best Room
	found := false
	for _, room := range rooms {
		if matches(room.Path, pkg) && (!found || closeness(room) > closeness(best)) {
			best, found = room, true
		}
	}
	return best, found
}

// closeness orders the rows that fit one package.
func closeness(room Room) int {
	stem, deep := strings.CutSuffix(room.Path, "/...")
	if deep {
		return 2 * len(stem)
	}
	return 2*len(stem) + 1
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, pkg) })
}

// matches tells whether a path as the go command gives it, made relative by
// below, fits a pattern of the table.
func matches(pattern, pkg string) bool {
	mine := pkg == "." || strings.HasPrefix(pkg, ours)
	switch pattern {
	case anyOurs:
		return mine
	case anyThird:
		return !mine && !standard(pkg)
	}
	if pkg != "." {
		pkg = strings.TrimPrefix(pkg, ours)
	}
	stem, deep := strings.CutSuffix(pattern, "/...")
	return pkg == stem || deep && strings.HasPrefix(pkg, stem+"/")
}

// standard tells a package of the standard library, whose path has no dot in
// its first element.
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

func isTesting(pkg string) bool {
	return pkg == "testing" || strings.HasPrefix(pkg, "testing/")
}

func isTestPackage(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }
