// Command demo shows what becomes of good and bad jobs. It is what `make run` runs.
package main

import (
	"os"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/demo"
)

func main() {
	os.Exit(demo.Run(cli.UntilSignal(), cli.Streams{Out: os.Stdout, Err: os.Stderr}))
}
