// Command licences lists the third-party modules that our programs link, with their licences. With -texts it prints the
// licences and notices in full, for the archives of a release. Programs may link only what [allowed] names.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	texts := flag.Bool("texts", false, "print the texts of the licences and notices")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, ".", *texts); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, root string, texts bool) error {
	modules, err := linked(ctx, root)
	if err != nil {
		return err
	}
	if !texts {
		return writeTable(out, modules)
	}
	others, err := copied(ctx, root)
	if err != nil {
		return err
	}
	return writeTexts(out, append(others, modules...))
}
