package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"
)

//go:embed faults/*.yaml
var folder embed.FS

// fault is a small fault that is put into the code on purpose.
type fault struct {
	// Name identifies the fault on the command line.
	Name string
	// Fault is what the changed code does, Harm is what that would do to a user.
	Fault, Harm string
	// File is changed: Old, which it has once, becomes New.
	File, Old, New string
	// Package and Test are the package and the test that must fail. Several tests are
	// separated by "|", and one of them must fail.
	Package, Test string
	// Histories is how many histories the simulator needs at most to find the fault,
	// from Seed on. It is 0 for a fault that a test finds.
	Histories, Seed int

	// area is the name of the file that the fault was read from, without its ending.
	area string
}

// readFaults reads the faults from the YAML files of a folder, in the order of the
// files' names.
func readFaults(from fs.FS) ([]fault, error) {
	names, err := fs.Glob(from, "faults/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []fault
	known := map[string]bool{}
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		var faults []fault
		if err := yaml.Load(text, &faults, yaml.WithKnownFields()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range faults {
			f.area = strings.TrimSuffix(path.Base(name), ".yaml")
			if err := f.check(); err != nil {
				return nil, fmt.Errorf("%s: fault %q: %w", name, f.Name, err)
			}
			if known[f.Name] {
				return nil, fmt.Errorf("%s: fault %q: the name is used twice; give each fault its own", name, f.Name)
			}
			known[f.Name] = true
			all = append(all, f)
		}
	}
	return all, nil
}

// check reports what the fault lacks.
func (f *fault) check() error {
	for name, value := range map[string]string{
		"name": f.Name, "fault": f.Fault, "harm": f.Harm, "file": f.File, "old": f.Old,
	} {
		if value == "" {
			return fmt.Errorf("it has no %s", name)
		}
	}
	switch byTest, bySimulator := f.Package != "" && f.Test != "", f.Histories > 0; {
	case byTest == bySimulator:
		return errors.New("name either the package and the test that catch it, or the histories of the simulator")
	case f.Old == f.New:
		return errors.New("old and new are equal, so it changes nothing")
	}
	return nil
}

// apply returns the text of the file with the fault in it.
func (f *fault) apply(text string) (string, error) {
	if n := strings.Count(text, f.Old); n != 1 {
		return "", fmt.Errorf("fault %q no longer applies: %s has the text %d times, want once:\n%s\n"+
			"bring the fault in line with the code", f.Name, f.File, n, f.Old)
	}
	return strings.Replace(text, f.Old, f.New, 1), nil
}

// catcher names what must find the fault, for people.
func (f *fault) catcher() string {
	if f.Histories > 0 {
		return fmt.Sprintf("the simulator: `make sim HISTORIES=%d SEED=%d`", f.Histories, f.seed())
	}
	tests := strings.Split(f.Test, "|")
	for i := range tests {
		tests[i] = "`" + tests[i] + "`"
	}
	return strings.Join(tests, ", ") + " in `" + f.Package + "`"
}

func (f *fault) seed() int { return max(f.Seed, 1) }
