package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/sqsafe/sqsafe/internal/scaffold"
)

// Init is the subcommand that makes a folder to start from.
type Init struct {
	Name   string `arg:"" help:"Name of the function and its stack, such as send-mail."`
	FIFO   bool   `name:"fifo" help:"FIFO queues, which keep the order of each message group."`
	Dir    string `placeholder:"DIR" help:"Folder to write (the name)."`
	Sqsafe string `placeholder:"DIR" help:"Checkout of sqsafe to build with; the one that built this program without it."`
	Force  bool   `help:"Replace files that are there already."`
}

// Help returns the text below the flags.
func (i *Init) Help() string {
	return `The folder has a function with a test, a SAM template with queues, ledger and
alarms, and a Makefile: make test, make run, make deploy. Nothing is downloaded.`
}

// Validate refuses invalid values.
func (i *Init) Validate() error {
	if i.Name == "" {
		return nil // the parser says so
	}
	return scaffold.CheckName(i.Name)
}

// Run writes the folder.
func (i *Init) Run(streams Streams) error {
	module, err := i.module()
	if err != nil {
		return err
	}
	files, err := scaffold.Files(scaffold.Options{Name: i.Name, FIFO: i.FIFO, Module: module})
	if err != nil {
		return err
	}
	folder := i.Dir
	if folder == "" {
		folder = i.Name
	}
	there, err := existing(folder, files)
	if err != nil {
		return err
	}
	if len(there) > 0 && !i.Force {
		return fmt.Errorf("%s has %s already; choose another --dir, or replace them with --force",
			folder, strings.Join(there, ", "))
	}
	if err := writeAll(folder, files); err != nil {
		return err
	}
	for _, name := range there {
		fmt.Fprintf(streams.Out, "replaced %s\n", filepath.Join(folder, name))
	}
	fmt.Fprintf(streams.Out, "%s is ready:\n\n", folder)
	fmt.Fprintf(streams.Out, "  cd %s\n", forShell(folder))
	fmt.Fprint(streams.Out, "  make test     # the function's tests; waits take no time in them\n"+
		"  make run      # the stack on this machine, with the jobs of jobs.jsonl\n"+
		"  make check    # what loses or doubles jobs in template.yaml\n"+
		"  make deploy EMAIL=you@example.com   # to AWS, with the SAM CLI\n\n"+
		"Your code goes into run in main.go.\n")
	return nil
}

// module is the sqsafe that the function is built with.
func (i *Init) module() (scaffold.Module, error) {
	if i.Sqsafe != "" {
		return scaffold.Checkout(i.Sqsafe)
	}
	info, _ := debug.ReadBuildInfo()
	if released, ok := scaffold.Released(info); ok {
		return released, nil
	}
	program, _ := os.Executable() // an empty path is in no checkout
	if target, err := filepath.EvalSymlinks(program); err == nil {
		program = target
	}
	// It is no path of this machine if the program was built with -trimpath.
	_, source, _, _ := runtime.Caller(0) //nolint:dogsled // only the file counts
	if folder := scaffold.FindCheckout(source, program); folder != "" {
		return scaffold.Checkout(folder)
	}
	return scaffold.Module{}, errors.New("this program was built in a checkout of sqsafe that is not found; " +
		"name it with --sqsafe DIR")
}

// existing returns the files that are in the folder already.
func existing(folder string, files []scaffold.File) ([]string, error) {
	var there []string
	for _, f := range files {
		switch _, err := os.Lstat(filepath.Join(folder, filepath.FromSlash(f.Path))); {
		case err == nil:
			there = append(there, f.Path)
		case errors.Is(err, syscall.ENOTDIR):
			return nil, notAFolder(folder)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return there, nil
}

func notAFolder(folder string) error {
	return fmt.Errorf("%s is there and is no folder; choose another --dir", folder)
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./~+@%:,-]+$`)

// forShell is a path as one word of a command line.
func forShell(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func writeAll(folder string, files []scaffold.File) error {
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // sources are for everyone to read
			if errors.Is(err, fs.ErrExist) { // such as a link to nowhere
				return notAFolder(folder)
			}
			return err
		}
		if err := os.WriteFile(path, f.Content, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}
