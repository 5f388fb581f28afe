package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// CheckImports reports what in the packages goes against the table, and what in
// the table no package uses.
func CheckImports(rows []Row, packages []Package) []string {
	problems := checkTable(rows)
	for _, p := range packages {
		row, ok := rowOf(rows, p.Path)
		if !ok {
			problems = append(problems, fmt.Sprintf(
				"%s is in no row of the import table: add a row to internal/archtest/table.go that says what it may import",
				p.Path))
			continue
		}
		problems = slices.Concat(problems,
			checkDirect(row, p), checkTests(row, p), checkLinked(row, p), checkUnused(row, p))
	}
	for _, row := range rows {
		if !slices.ContainsFunc(packages, func(p Package) bool { return relative(p.Path) == row.Path }) {
			problems = append(problems, fmt.Sprintf(
				"row %q of the import table is for no package: remove it from internal/archtest/table.go", row.Path))
		}
	}
	return problems
}

// checkTable reports rows that occur twice or that reach upwards.
func checkTable(rows []Row) []string {
	var problems, above []string
	for _, row := range rows {
		if slices.Contains(above, row.Path) {
			problems = append(problems, fmt.Sprintf("the import table has two rows for %q: make them one", row.Path))
		}
		for _, imported := range row.Ours {
			if !slices.Contains(above, imported) {
				problems = append(problems, fmt.Sprintf(
					"row %q of the import table allows %q, which does not stand above it: imports point one way", row.Path, imported))
			}
		}
		above = append(above, row.Path)
	}
	return problems
}

func checkDirect(row Row, p Package) []string {
	var problems []string
	for _, imported := range p.Imports {
		switch {
		case isTesting(imported) && !isTestPackage(p.Path) && !row.Testing:
			problems = append(problems, fmt.Sprintf(
				"%s imports %s outside of its tests: only packages named …test may", p.Path, imported))
		case !standard(imported) && !row.allows(imported):
			problems = append(problems, fmt.Sprintf(
				"%s imports %s, which the import table does not allow: turn the dependency round with an interface here, "+
					"or change the row %q in internal/archtest/table.go and say why in docs/decisions.md",
				p.Path, imported, row.Path))
		}
	}
	return problems
}

func (row Row) allows(imported string) bool {
	return slices.Contains(row.Ours, relative(imported)) || slices.Contains(row.Third, imported)
}

func checkTests(row Row, p Package) []string {
	var problems []string
	for _, imported := range p.TestImports {
		kit := matches(anyOurs, imported) && isTestPackage(imported) || matchesAny(TestKit(), imported)
		if kit || standard(imported) || imported == p.Path || row.allows(imported) ||
			slices.Contains(row.Tests, relative(imported)) {
			continue
		}
		problems = append(problems, fmt.Sprintf(
			"tests of %s import %s, which neither its row %q nor TestKit in internal/archtest/table.go allows",
			p.Path, imported, row.Path))
	}
	return problems
}

func checkLinked(row Row, p Package) []string {
	var problems []string
	for _, dep := range p.Deps {
		if !standard(dep) && matchesAny(row.Never, dep) {
			problems = append(problems, fmt.Sprintf(
				"%s links %s, which its row %q forbids: find the way with \"go mod why\" or \"go list -deps\"",
				p.Path, dep, row.Path))
		}
	}
	return problems
}

// checkUnused reports what a row allows and the package does not import.
func checkUnused(row Row, p Package) []string {
	var problems []string
	unused := func(allowed, imported []string) {
		for _, a := range allowed {
			if !slices.ContainsFunc(imported, func(i string) bool { return relative(i) == a }) {
				problems = append(problems, fmt.Sprintf(
					"row %q of the import table allows %q, which is not imported: remove it from the row", row.Path, a))
			}
		}
	}
	unused(slices.Concat(row.Ours, row.Third), p.Imports)
	unused(row.Tests, p.TestImports)
	return problems
}

func rowOf(rows []Row, pkg string) (Row, bool) {
	i := slices.IndexFunc(rows, func(row Row) bool { return row.Path == relative(pkg) })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, pkg) })
}

// matches reports whether a path as [Package] has it fits a pattern of the table.
func matches(pattern, pkg string) bool {
	mine := pkg == "." || strings.HasPrefix(pkg, ours)
	switch pattern {
	case anyOurs:
		return mine
	case anyThird:
		return !mine && !standard(pkg)
	}
	stem, deep := strings.CutSuffix(pattern, "/...")
	return relative(pkg) == stem || deep && strings.HasPrefix(relative(pkg), stem+"/")
}

// relative returns the path of a package as a row has it.
func relative(pkg string) string { return strings.TrimPrefix(pkg, ours) }

// standard reports whether a package is of the standard library: its path has no
// dot in its first element.
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

func isTesting(pkg string) bool {
	return pkg == "testing" || strings.HasPrefix(pkg, "testing/")
}

func isTestPackage(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }
