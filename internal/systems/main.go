// Command systems checks the types of all packages and tests for other systems, such as
// windows/amd64 and darwin/arm64. It finds what does not compile there without compiling it:
// dependencies are read from source, without their function bodies, which costs a tenth.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "systems:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, systems []string) error {
	if len(systems) == 0 {
		return errors.New("no system was named; name some, such as windows/amd64")
	}
	for _, system := range systems {
		goos, goarch, found := strings.Cut(system, "/")
		if !found {
			return fmt.Errorf("%q is no system; write it as windows/amd64", system)
		}
		packages, err := list(ctx, "./...", goos, goarch)
		if err != nil {
			return err
		}
		ours, err := check(packages, goarch)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		if _, err := fmt.Fprintf(out, "%s: %d packages, with their tests\n", system, ours); err != nil {
			return err
		}
	}
	return nil
}
