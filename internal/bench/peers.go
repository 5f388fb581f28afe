package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peers are functions in other languages, and how they are installed.
//
//go:embed testdata/python testdata/node
var peers embed.FS

// language is what peers are written in.
type language struct {
	// title is its name, name that of the folder in testdata. pins is the file there that
	// names the versions; another content installs everything again.
	title, name, pins string
	// tools are the commands that have to be here. The first runs the function.
	tools []string
	// install are the commands that install what pins names, in the folder.
	install [][]string
	// run is the command of the function in FILE, a line for the shell.
	run string
}

func languages() []language {
	return []language{
		{
			title: "Python", name: "python", pins: "requirements.txt", tools: []string{"python3"},
			install: [][]string{
				{"python3", "-m", "venv", "--clear", "venv"},
				{"venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", "requirements.txt"},
			},
			run: "exec venv/bin/python -B -W ignore -m awslambdaric FILE.handler",
		},
		{
			title: "TypeScript", name: "node", pins: "package-lock.json", tools: []string{"node", "npm"},
			install: [][]string{{"npm", "ci", "--silent", "--no-audit", "--no-fund"}},
			run:     "exec TOOL loop.mjs ./FILE.mjs",
		},
	}
}

// installer installs peers into a directory.
type installer struct {
	directory string
	// look finds a command, run runs one in a folder; exec's, but in tests.
	look func(name string) (string, error)
	run  func(ctx context.Context, directory string, command ...string) error
}

func newInstaller(directory string) installer {
	return installer{directory: directory, look: exec.LookPath, run: runCommand}
}

func runCommand(ctx context.Context, directory string, command ...string) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = directory
	out, err := c.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, lines[len(lines)-1])
	}
	return nil
}

// prepare installs a language's packages, if they are not installed, and returns its
// folder.
func (i installer) prepare(ctx context.Context, l language) (folder string, err error) {
	for _, tool := range l.tools {
		if _, err := i.look(tool); err != nil {
			return "", fmt.Errorf("%s is not installed", tool)
		}
	}
	folder, err = filepath.Abs(filepath.Join(i.directory, l.name))
	if err != nil {
		return "", err
	}
	if err := unpack(l.name, folder); err != nil {
		return "", err
	}
	pins, err := os.ReadFile(filepath.Join(folder, l.pins))
	if err != nil {
		return "", err
	}
	stamp := filepath.Join(folder, "installed")
	if installed, err := os.ReadFile(stamp); err == nil && bytes.Equal(installed, pins) {
		return folder, nil
	}
	for _, command := range l.install {
		if err := i.run(ctx, folder, command...); err != nil {
			return "", err
		}
	}
	return folder, os.WriteFile(stamp, pins, 0o600)
}

func unpack(name, folder string) error {
	files, err := fs.Sub(peers, "testdata/"+name)
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		into := filepath.Join(folder, path)
		if err != nil || entry.IsDir() {
			return errors.Join(err, os.MkdirAll(into, 0o700))
		}
		content, err := fs.ReadFile(files, path)
		return errors.Join(err, os.WriteFile(into, content, 0o600))
	})
}

// peer is the program of the function in a file of a language. Its binary is a line for
// the shell, as a custom runtime's bootstrap is.
func (i installer) peer(l language, folder, file string) (program, error) {
	tool, err := i.look(l.tools[0])
	if err != nil {
		return program{}, err
	}
	line := strings.NewReplacer("TOOL", tool, "FILE", file).Replace(l.run)
	bootstrap := filepath.Join(folder, "bootstrap-"+file)
	//nolint:gosec // it has to be executable
	err = os.WriteFile(bootstrap, []byte("#!/bin/sh\n"+line+"\n"), 0o700)
	return program{
		name:   "Powertools " + l.title + map[string]string{batch: ", batch", idempotent: ", batch and idempotency"}[file],
		binary: bootstrap, directory: folder,
		environment: map[string]string{"POWERTOOLS_SERVICE_NAME": "bench", "AWS_EC2_METADATA_DISABLED": "true"},
		remote:      file == idempotent,
	}, err
}

// The files of a language: messages one by one, and with idempotency in DynamoDB.
const batch, idempotent = "batch", "idempotent"
