package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// programs are what a release contains, and the sample functions.
var programs = []string{"./cmd/sqsafe", "./functions/..."}

// allowed are the licences that linked modules may have, by their SPDX names. All of them let an Apache-2.0 program
// link the module, if its licence and notices go with the program.
var allowed = []string{"Apache-2.0", "MIT", "MIT-0", "BSD-3-Clause", "BSD-2-Clause", "ISC"}

// module is a third-party module that is linked into one of our programs.
type module struct {
	path string
	// licences are SPDX names, sorted.
	licences []string
	// texts are the files of licences and notices, by their names.
	texts map[string][]byte
}

// linked lists the modules that the programs link on the system for which the command runs, sorted by path.
func linked(ctx context.Context, root string) ([]module, error) {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"}
	cmd := exec.CommandContext(ctx, "go", append(args, programs...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := slices.Compact(slices.Sorted(strings.Lines(string(bytes.TrimSpace(out)))))
	var modules []module
	for _, line := range lines {
		path, folder, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !found {
			continue // a package of this module or of the standard library
		}
		m, err := read(path, folder)
		if err != nil {
			return nil, err
		}
		if len(modules) == 0 || modules[len(modules)-1].path != path {
			modules = append(modules, m)
		}
	}
	return modules, nil
}

// copied returns what our programs contain besides modules: Go's library, and the script of the page of dead letters.
func copied(ctx context.Context, root string) ([]module, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	scripts, err := filepath.Glob(filepath.Join(root, "internal", "dlqui", "static", "*.LICENSE"))
	if err != nil {
		return nil, err
	}
	var all []module
	for _, file := range append(scripts, filepath.Join(strings.TrimSpace(string(out)), "LICENSE")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".LICENSE")
		if name == "LICENSE" {
			name = "Go"
		}
		all = append(all, module{path: name, texts: map[string][]byte{"LICENSE": text}})
	}
	return all, nil
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)`)
	noticeFile  = regexp.MustCompile(`(?i)^notice`)
)

// read finds the licences of a module in the files of its root folder.
func read(path, folder string) (module, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return module{}, err
	}
	m := module{path: path, texts: map[string][]byte{}}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !licenceFile.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return module{}, err
		}
		m.texts[name] = text
		if noticeFile.MatchString(name) {
			continue
		}
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL {
				m.licences = append(m.licences, match.ID)
			}
		}
	}
	slices.Sort(m.licences)
	m.licences = slices.Compact(m.licences)
	return m, m.check()
}

// check says what is wrong with the licences of a module.
func (m module) check() error {
	if len(m.licences) == 0 {
		return fmt.Errorf("%s: no licence was found in its first folder: do not link it, or say here where it stands", m.path)
	}
	for _, licence := range m.licences {
		if !slices.Contains(allowed, licence) {
			return fmt.Errorf("%s has the licence %s; allowed are %s: use another module", m.path, licence,
				strings.Join(allowed, ", "))
		}
	}
	return nil
}
