package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// build compiles the function as SAM does and gives the path of its binary.
func build(ctx context.Context, f stack.Function, into string) (string, error) {
	binary := filepath.Join(into, f.LogicalID, "bootstrap")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "lambda.norpc",
		"-ldflags", "-s -w", "-o", binary, ".")
	cmd.Dir = f.CodeURI
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	switch {
	case err == nil:
		return binary, nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("function %s: the go command is not there to build it; install Go", f.LogicalID)
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", fmt.Errorf("function %s does not build: %s; run go build in %s",
		f.LogicalID, firstError(&output, err), f.CodeURI)
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
