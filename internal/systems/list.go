package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// listed is a package as the go command lists it. Those that it imports come before it.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	// GoFiles are the files for the system. In a package under test they have its tests.
	GoFiles []string
	// ImportMap has the paths of imports that are not what the source says: vendored ones,
	// and packages that were compiled again for a test.
	ImportMap map[string]string
	// Module is nil for the standard library.
	Module *struct {
		Main      bool
		GoVersion string
	}
	ForTest string
	Error   *struct{ Err string }
}

func (l *listed) ours() bool { return l.Module != nil && l.Module.Main }

// list returns the packages that match the pattern, their tests, and all that they import.
func list(ctx context.Context, pattern, goos, goarch string) ([]*listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-test",
		"-json=ImportPath,Name,Dir,GoFiles,ImportMap,Module,ForTest,Error", pattern)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []*listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if l.Error != nil {
			return nil, errors.New(l.Error.Err)
		}
		packages = append(packages, &l)
	}
}
