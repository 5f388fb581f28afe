// Command demo shows how good and bad jobs end. `make run` runs it.
package main

import (
	"os"

	"github.com/sqsafe/sqsafe/internal/cli"
	"github.com/sqsafe/sqsafe/internal/demo"
)

func main() {
	os.Exit(demo.Run(cli.UntilSignal(), cli.Streams{Out: os.Stdout, Err: os.Stderr}))
}
