package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tree is a copy of the module. Files that are equal are left alone, so that the go
// command finds its results of the last run.
type tree struct{ module, copied string }

// refresh makes the copy equal to the module. It also removes a fault that an
// interrupted run has left.
func (t tree) refresh() error {
	want := map[string]bool{}
	err := eachFile(t.module, func(name string) error {
		want[name] = true
		text, err := os.ReadFile(filepath.Join(t.module, name))
		if err != nil {
			return err
		}
		return t.write(name, text)
	})
	if err != nil {
		return err
	}
	return eachFile(t.copied, func(name string) error {
		if want[name] {
			return nil
		}
		return os.Remove(filepath.Join(t.copied, name))
	})
}

// write sets the text of a file of the copy, with the mode that it has in the module.
func (t tree) write(name string, text []byte) error {
	from, to := filepath.Join(t.module, name), filepath.Join(t.copied, name)
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, text) {
		return nil
	}
	mode := os.FileMode(0o600)
	if info, err := os.Stat(from); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	return os.WriteFile(to, text, mode)
}

func (t tree) writeAll(files map[string]string) error {
	for name, text := range files {
		if err := t.write(name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// eachFile calls f with the regular files below dir, by their names relative to it. It
// leaves out what is built or belongs to tools: folders at the top whose names begin
// with a dot.
func eachFile(dir string, f func(name string) error) error {
	err := filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(name, ".") && !strings.ContainsRune(name, filepath.Separator):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		return f(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
