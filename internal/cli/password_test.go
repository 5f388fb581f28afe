package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/cli"
)

// A URL may have a password. No command shows it, whatever becomes of the command.
func TestNoCommandShowsAPassword(t *testing.T) {
	t.Parallel()
	const nobody, broken, bare = "http://me:s3cret@127.0.0.1:1", "http://me:s3cret@127.0.0.1:x y", "me:s3cret@127.0.0.1:1"
	for _, args := range [][]string{
		{"queues", "--endpoint-sqs", nobody},
		{"queues", "--endpoint-sqs", broken},
		{"queues", "--endpoint-sqs", bare},
		{"send", "orders", "x", "--endpoint-sqs", nobody},
		{"send", nobody + "/1/or ders", "x"},
		{"send", broken + "/1/orders", "x"},
		{"send", bare + "/1/orders", "x"},
		{"dlq", "list", "orders", "--endpoint-sqs", nobody},
		{"dlq", "list", nobody + "/1/orders"},
		{"ledger", "list", "--endpoint-dynamodb", nobody},
		{"ledger", "list", "--endpoint-dynamodb", bare},
		{"local", "--endpoint-sqs", nobody, "--endpoint-dynamodb", nobody, "--template", "testdata/stack/template.json"},
		{"local", "--endpoint-sqs", bare},
		{"local", "--endpoint-dynamodb", broken},
	} {
		var out bytes.Buffer
		code := cli.Run(t.Context(), args, cli.Streams{Out: &out, Err: &out})
		if text := out.String(); code == cli.ExitOK || text == "" || strings.Contains(text, "s3cret") {
			t.Errorf("sqsafe %s: exit code %d: %s", strings.Join(args, " "), code, text)
		}
	}
}
