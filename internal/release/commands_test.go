package release_test

import (
	"regexp"
	"strings"
	"testing"
)

// needsAccount marks a command that only an account of AWS can run.
const needsAccount = "needs an account"

// ranBy says what runs a command of README.md and docs/start.md: a file, and what it has.
var ranBy = map[string][2]string{
	"go install github.com/sqsafe/sqsafe/cmd/sqsafe@latest": {".ci/run", "make build"},
	"sqsafe init charge && cd charge":                       {"internal/cli/init_test.go", `"init"`},
	"sqsafe init charge":                                    {"internal/cli/init_test.go", `"init"`},
	"cd charge":                                             {"internal/cli/init_test.go", `"init"`},
	"make test":                                             {"internal/cli/init_test.go", `"make", "test"`},
	"make run":                                              {"internal/cli/init_test.go", `"make", "run"`},
	"make check":                                            {"internal/cli/init_test.go", `"make", "check"`},
	"sqsafe local":                                          {"internal/cli/localalone_test.go", "sqsafe local"},
	`sqsafe send ChargeQueue '{"id": "4", "amount": 500}'`: {"internal/cli/testdata/script/send.txtar", "sqsafe send"},

	"sqsafe local --jobs jobs.jsonl":                  {"internal/cli/testdata/script/bad_input.txtar", "--jobs"},
	"sqsafe job 4 --queue ChargeQueue":                {"internal/cli/testdata/script/job.txtar", "sqsafe job o --queue"},
	"sqsafe dlq list ChargeDeadLetterQueue --letters": {"internal/cli/testdata/script/dlq_list.txtar", "--letters"},

	"sqsafe dlq list Charge --aws --stack charge":   {"internal/cli/dlqstack_test.go", `"--aws", "--stack"`},
	"sqsafe dlq replay Charge --aws --stack charge": {"internal/cli/testdata/script/dlq_replay.txtar", "dlq replay"},

	"make deploy EMAIL=you@example.com":                                         {needsAccount},
	`sqsafe send --aws QUEUE_URL '{"id": "1", "amount": 1250}'`:                 {needsAccount},
	"aws lambda get-account-settings --query AccountLimit.ConcurrentExecutions": {needsAccount},
}

// TestCommandsOfTheFirstPagesAreRun fails for a command of README.md or docs/start.md that no test runs.
func TestCommandsOfTheFirstPagesAreRun(t *testing.T) {
	t.Parallel()
	console := regexp.MustCompile("(?s)```console\n(.*?)```")
	comment := regexp.MustCompile(` +#.*$`)
	found := 0
	for _, page := range []string{"README.md", "docs/start.md"} {
		for _, block := range console.FindAllStringSubmatch(read(t, page), -1) {
			for line := range strings.Lines(block[1]) {
				command, shown := strings.CutPrefix(strings.TrimSpace(line), "$ ")
				if !shown {
					continue
				}
				found++
				command = comment.ReplaceAllString(command, "")
				by, known := ranBy[command]
				if !known {
					t.Errorf("%s shows %q: run it in a test, and say here in which", page, command)
				} else if by[0] != needsAccount && !strings.Contains(read(t, by[0]), by[1]) {
					t.Errorf("%s is to run %q, and has no %q", by[0], command, by[1])
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("%d commands were found, want 8 at least: is the pattern still right?", found)
	}
}
