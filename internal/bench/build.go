package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// build compiles one of this module's functions with the flags of a deployment,
// for this machine, and returns the path of the binary.
func build(ctx context.Context, into, pkg string) (string, error) {
	binary := filepath.Join(into, filepath.Base(pkg))
	command := exec.CommandContext(ctx, "go", "build",
		"-trimpath", "-ldflags", "-s -w", "-tags", "lambda.norpc,nethttpomithttp2", "-o", binary, pkg)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return binary, nil
}
