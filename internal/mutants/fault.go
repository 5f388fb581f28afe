package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
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
	// The first edit is in line, Also are further ones that belong to the same fault.
	edit `yaml:",inline"`
	Also []edit
	// Package and Test are the package and the test that must fail. Several tests are
	// separated by "|", and one of them must fail.
	Package, Test string
	// Histories is how many histories the simulator needs at most to find the fault,
	// from Seed on. It is 0 for a fault that a test finds.
	Histories, Seed int

	// area is the name of the file that the fault was read from, without its ending.
	area string
}

// edit is a change of a file: Old, which it has once, becomes New.
type edit struct{ File, Old, New string }

// edits are all edits of the fault.
func (f *fault) edits() []edit { return append([]edit{f.edit}, f.Also...) }

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
	case slices.ContainsFunc(f.edits(), func(e edit) bool { return e.Old == e.New }):
		return errors.New("old and new are equal, so it changes nothing")
	}
	return nil
}

// apply returns the files that the fault changes, with the fault in them and without it.
// read returns the text of a file.
func (f *fault) apply(read func(name string) ([]byte, error)) (faulty, sound map[string]string, err error) {
	faulty, sound = map[string]string{}, map[string]string{}
	for _, e := range f.edits() {
		text, ok := faulty[e.File]
		if !ok {
			data, err := read(e.File)
			if err != nil {
				return nil, nil, err
			}
			text = string(data)
			sound[e.File] = text
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, nil, fmt.Errorf("fault %q no longer applies: %s has the text %d times, want once:\n%s\n"+
				"bring the fault in line with the code", f.Name, e.File, n, e.Old)
		}
		faulty[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return faulty, sound, nil
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
