package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// parallelBuilds is how many functions are built at a time. The go command
// itself uses all processors, but not while it links.
const parallelBuilds = 2

// buildAll builds every function; those that are built alike share a binary.
// After a failure it begins no further build, and tells of the first.
func (s *Stack) buildAll(ctx context.Context) (err error) {
	if s.folder, err = os.MkdirTemp("", "sqsafe-local-"); err != nil {
		return err
	}
	s.binaries = map[string]string{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, parallelBuilds)
	var builds sync.WaitGroup
	shared := map[string]string{} // binaries by what they are built of
	for _, f := range s.template.Functions {
		s.journal.write(Event{Kind: KindBuilding, Function: f.LogicalID})
		source := f.CodeURI
		if f.BuildMethod == makefile {
			source = f.LogicalID
		}
		if shared[source] == "" {
			binary := filepath.Join(s.folder, f.LogicalID, "bootstrap")
			shared[source] = binary
			builds.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				if err := build(ctx, f, binary); err != nil {
					cancel(err)
				}
			})
		}
		s.binaries[f.LogicalID] = shared[source]
	}
	builds.Wait()
	return context.Cause(ctx)
}

// makefile is the build method of functions that bring their own make target.
const makefile = "makefile"

// build compiles the function as SAM does.
func build(ctx context.Context, f stack.Function, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "lambda.norpc",
		"-ldflags", "-s -w", "-o", binary, ".")
	if f.BuildMethod == makefile {
		if err := os.MkdirAll(filepath.Dir(binary), 0o700); err != nil {
			return err
		}
		cmd = exec.CommandContext(ctx, "make", "build-"+f.LogicalID, "ARTIFACTS_DIR="+filepath.Dir(binary))
	}
	killTogether(cmd)
	cmd.Dir = f.CodeURI
	// What is built runs here, whatever the environment says and the template is for.
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), ofMake),
		"CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	command := filepath.Base(cmd.Path) + " " + cmd.Args[1]
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("function %s: the %s command is not there to build it; install it", f.LogicalID, cmd.Args[0])
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("function %s does not build: %s; run %s in %s",
			f.LogicalID, firstError(&output, err), command, f.CodeURI)
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("function %s: %s in %s makes no $(ARTIFACTS_DIR)/bootstrap; let it",
			f.LogicalID, command, f.CodeURI)
	}
	target := ""
	if f.BuildMethod == makefile {
		target = cmd.Args[1]
	}
	if why := unrunnable(binary, target); why != "" {
		return fmt.Errorf("function %s does not run here: %s (%s in %s)", f.LogicalID, why, command, f.CodeURI)
	}
	return nil
}

// ofMake finds what a make that runs this command would tell a make below it.
func ofMake(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == "MAKEFLAGS" || name == "MFLAGS" || name == "MAKELEVEL"
}

// firstError is the compiler's first complaint; what follows often comes of it.
func firstError(output *bytes.Buffer, err error) string {
	for line := range strings.Lines(output.String()) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading") {
			return line
		}
	}
	return err.Error()
}
