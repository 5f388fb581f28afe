package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
)

// Order is the order of the files of a package, tests excepted: a file uses only
// what itself and the files before it declare. Read downwards, each file needs
// nothing that has not been read.
type Order struct {
	// Package is the package's path, as in [Row.Path].
	Package string
	// Files are the names of all its files.
	Files []string
}

// Orders are the packages of this module whose files have an order.
func Orders() []Order {
	return []Order{
		{Package: "internal/archtest", Files: []string{
			"doc.go", "module.go", "source.go", "table.go", "tabletools.go", "imports.go", "habits.go", "docs.go", "sizes.go",
			"fuzzing.go", "goroutines.go", "order.go",
		}},
		{Package: ".", Files: []string{
			"doc.go", "payload.go", "options.go", "environment.go", "logger.go", "host.go", "sqsafe.go",
		}},
		{Package: "handler", Files: []string{
			"doc.go", "outcome.go", "errors.go", "timestamp.go", "failure.go", "message.go", "result.go", "func.go",
			"jsonenvelope.go", "jsonmembers.go", "jsonforeign.go", "json.go", "ports.go", "ledger.go", "report.go", "options.go",
			"pace.go", "process.go", "goroutine.go", "run.go", "chain.go", "delay.go", "evidence.go", "resolve.go", "breaker.go",
			"processor.go", "pool.go", "batch.go", "worker.go", "log.go", "hooks.go", "conclude.go", "hide.go", "letters.go",
			"settle.go", "ending.go", "decode.go", "claim.go", "execute.go", "alone.go", "perform.go", "clock.go",
			"answer.go", "loop.go", "handle.go",
		}},
	}
}

// CheckOrder reports the uses of functions, methods, types, constants and
// variables that a later file declares, and differences between the order and the
// files of the package. The importer is for what the package imports; see
// [Importer]. All files are taken to be built together, whatever their build tags.
func CheckOrder(order Order, files []File, importer types.Importer) []string {
	place := map[string]int{} // of a file in the order, from 1
	for i, name := range order.Files {
		place[path.Join(order.Package, name)] = i + 1
	}
	var problems []string
	var own []File
	for _, f := range files {
		if relative(f.Package()) != order.Package || f.IsTest() {
			continue
		}
		own = append(own, f)
		if place[f.Name] == 0 {
			problems = append(problems,
				f.Name+" is not in the order of its package: give it a place in internal/archtest/order.go")
		}
	}
	for _, name := range order.Files {
		if !slices.ContainsFunc(own, func(f File) bool { return path.Base(f.Name) == name }) {
			problems = append(problems, fmt.Sprintf(
				"the order of %s has %s, which is none of its files: remove it from internal/archtest/order.go",
				order.Package, name))
		}
	}
	if len(problems) > 0 || len(own) == 0 {
		return problems
	}
	return upward(order.Package, own, place, importer)
}

// upward reports each name that a file uses and a later one declares, where the
// file first uses it.
func upward(pkg string, files []File, place map[string]int, importer types.Importer) []string {
	uses, problems := resolve(pkg, files, importer)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(place[a.Name], place[b.Name]) })
	for _, f := range files {
		seen := map[types.Object]bool{}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			ident, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used := declared(uses[ident])
			if used == nil || seen[used] {
				return true
			}
			seen[used] = true
			if at := f.Set.Position(used.Pos()).Filename; place[at] > place[f.Name] {
				problems = append(problems, fmt.Sprintf("%s: %s is declared in %s, a later file: move one of the two, "+
					"or change the order in internal/archtest/order.go", f.At(ident), used.Name(), path.Base(at)))
			}
			return true
		})
	}
	return problems
}

// resolve finds what each name of the files stands for.
func resolve(pkg string, files []File, importer types.Importer) (uses map[*ast.Ident]types.Object, problems []string) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer, Error: func(err error) { problems = append(problems, err.Error()) }}
	syntax := make([]*ast.File, len(files))
	for i, f := range files {
		syntax[i] = f.AST
	}
	_, _ = config.Check(pkg, files[0].Set, syntax, info) // Error has the errors
	return info.Uses, problems
}

// declared returns the object if it is declared at the top level of a file, or is a
// method; nil otherwise. What other packages declare is in none of the files.
func declared(used types.Object) types.Object {
	if f, ok := used.(*types.Func); ok {
		return f.Origin()
	}
	if used == nil || used.Pkg() == nil || used.Parent() != used.Pkg().Scope() {
		return nil
	}
	return used
}
