package demo

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestSampleJobsHaveTheirExpectedOutcomes checks what `make run` shows: every sample job has its
// expected outcome.
func TestSampleJobsHaveTheirExpectedOutcomes(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	var out, errs bytes.Buffer
	if code := Run(t.Context(), cli.Streams{Out: &out, Err: &errs}); code != cli.ExitOK {
		t.Fatalf("exit code %d, %s\n%s", code, &errs, &out)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	begin := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "┌") })
	golden(t, "table.golden", strings.Join(lines[begin:], "\n")+"\n")
	for _, want := range []string{
		`sent +to ChargeQueue`,
		`done +attempt 1, key ch-1`,
		`retry +attempt 1, retryable rate_limited, next attempt in [12] s, key ch-4, POST \S+: HTTP 429`,
		`done +attempt 2, key ch-4`,
		`retry +attempt 1, retryable connection, next attempt in [12] s, key ch-5`,
		`done +attempt 2, key ch-5`,
		`waiting +visible again in [12] s`,
		`duplicate +completed, key ch-9`,
		`dead +attempt 3, retryable exhausted, key ch-8`,
		`dead +attempt 3, unclassified, key ch-10`,
		`dead-lettered +in ChargeDeadLetterQueue \(validation\)`,
		`dead-lettered +in ChargeDeadLetterQueue \(decode\)`,
		`deleted +from ChargeQueue`,
		`dead +attempt 1, permanent out_of_stock, key st-3, sku "sku-1": 50 wanted, 5 left`,
		`dead-lettered +in dead-StockQueue.fifo \(out_of_stock\)`,
		`duplicate +completed, key st-4`,
		`retry +attempt 1, retryable unavailable, next attempt in [12] s, key nt-2, text message: POST`,
		`step done before.*"key":"nt-2","step":"email"`,
		`done +attempt 2, key nt-2`,
		`duplicate +completed, key nt-3`,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("no line %q in:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "\x1b[") {
		t.Error("colours in a pipe")
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("internal", "demo", "testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestRunNeedsTheRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	var errs bytes.Buffer
	code := Run(context.Background(), cli.Streams{Out: &bytes.Buffer{}, Err: &errs})
	if code != cli.ExitFailed || !strings.Contains(errs.String(), "run this in the root of the repository") {
		t.Errorf("exit code %d, %s", code, &errs)
	}
}
