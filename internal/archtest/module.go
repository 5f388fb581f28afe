package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Package is what the go command says of a package of this module. Paths of
// this module's packages are below the module, as in [Row].
type Package struct {
	Path string
	// Imports are direct; TestImports are those of the test files, in the package
	// and outside of it; Deps are all that is linked.
	Imports, TestImports, Deps []string
}

// listed is the part of "go list -json" that the rules need.
type listed struct {
	ImportPath   string   `json:"ImportPath"`
	Imports      []string `json:"Imports"`
	TestImports  []string `json:"TestImports"`
	XTestImports []string `json:"XTestImports"`
	Deps         []string `json:"Deps"`
}

// Packages lists the packages of the module at root.
func Packages(ctx context.Context, root string) ([]Package, error) {
	module, err := golist(ctx, root, "-m")
	if err != nil {
		return nil, err
	}
	out, err := golist(ctx, root, "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")
	if err != nil {
		return nil, err
	}
	return decodePackages(string(bytes.TrimSpace(module)), out)
}

func golist(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go list: %w: %s", err, exit.Stderr)
	}
	return out, err
}

// Importer returns an importer of everything that the packages import. Paths of
// packages are below the module, as in [Row]. The go command compiles what it has
// not yet compiled.
func Importer(ctx context.Context, root string, set *token.FileSet, packages ...string) (types.Importer, error) {
	args := []string{"-export", "-deps", "-f={{.ImportPath}} {{.Export}}"}
	for _, p := range packages {
		args = append(args, "./"+p)
	}
	out, err := golist(ctx, root, args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }), nil
}

func decodePackages(module string, out []byte) ([]Package, error) {
	var packages []Package
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var l listed
		err := decoder.Decode(&l)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, Package{
			Path:        below(module, l.ImportPath),
			Imports:     allBelow(module, l.Imports),
			TestImports: allBelow(module, append(l.TestImports, l.XTestImports...)),
			Deps:        allBelow(module, l.Deps),
		})
	}
}

func allBelow(module string, paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, below(module, p))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ours marks the paths of this module's packages, so that they cannot be taken
// for the standard library's.
const ours = "./"

// below gives "./fault" for the module's fault, "." for its root, and leaves
// the paths of others alone.
func below(module, path string) string {
	if path == module {
		return "."
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return ours + rest
	}
	return path
}
