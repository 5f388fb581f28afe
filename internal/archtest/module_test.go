package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sqsafe/sqsafe/internal/archtest"
)

// root is where the module begins, seen from this package.
var root = filepath.Join("..", "..")

func report(t *testing.T, problems []string) {
	t.Helper()
	for _, problem := range problems {
		t.Error(problem)
	}
}

func parseModule(t *testing.T) []archtest.File {
	t.Helper()
	files, err := archtest.ParseFiles(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestModuleImports(t *testing.T) {
	t.Parallel()
	// Parsing opens every file, so that the go command runs this test anew
	// when one changes: what "go list" reads it cannot see.
	parseModule(t)
	packages, err := archtest.Packages(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, archtest.CheckImports(archtest.Rows(), packages))
}

func TestModuleHosts(t *testing.T) {
	t.Parallel()
	report(t, archtest.CheckHosts(archtest.Rows(), parseModule(t)))
}

func TestModuleFuzzing(t *testing.T) {
	t.Parallel()
	report(t, archtest.CheckFuzzing(parseModule(t), archtest.Unfuzzed()))
}

func TestModuleSleeps(t *testing.T) {
	t.Parallel()
	report(t, archtest.CheckSleeps(parseModule(t)))
}

func TestModuleDocs(t *testing.T) {
	t.Parallel()
	report(t, archtest.CheckDocs(parseModule(t)))
}

func TestModuleSizes(t *testing.T) {
	t.Parallel()
	report(t, archtest.CheckSizes(archtest.ModuleLimits(), parseModule(t)))
}

func TestModuleGoroutines(t *testing.T) {
	t.Parallel()
	report(t, archtest.CheckGoroutines(archtest.Goroutines(), parseModule(t)))
}

func TestModuleComments(t *testing.T) {
	t.Parallel()
	report(t, archtest.CheckComments(parseModule(t)))
}

func TestModuleOrder(t *testing.T) {
	t.Parallel()
	files := parseModule(t)
	var packages []string
	for _, order := range archtest.Orders() {
		packages = append(packages, order.Package)
	}
	importer, err := archtest.Importer(t.Context(), root, files[0].Set, packages...)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range archtest.Orders() {
		report(t, archtest.CheckOrder(order, files, importer))
	}
}
