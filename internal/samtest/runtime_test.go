package samtest_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// build compiles a function for this machine.
func build(t *testing.T, source string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "lambda.norpc,nethttpomithttp2",
		"-ldflags", "-s -w",
		"-o", binary, ".")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// TestEventsGiveTheExpectedOutcomes invokes each function with each of its events,
// and checks that the permissions of its role are exactly those that it uses.
func TestEventsGiveTheExpectedOutcomes(t *testing.T) {
	t.Parallel()
	b := newBench(t, loopback)
	for _, function := range b.stack.Functions {
		t.Run(function.LogicalID, func(t *testing.T) {
			t.Parallel()
			binary := build(t, function.CodeURI)
			calls := newCalls()
			t.Run("events", func(t *testing.T) {
				for _, in := range invocations {
					if in.function != function.LogicalID {
						continue
					}
					t.Run(in.file, func(t *testing.T) {
						t.Parallel()
						calls.add(in.invoke(t, binary)...)
					})
				}
			})
			if diff := cmp.Diff(own(function.LogicalID), calls.sorted()); diff != "" {
				t.Errorf("rights that the calls take (-listed +taken):\n%s", diff)
			}
		})
	}
}

// calls are the permissions that several invocations needed.
type calls struct {
	mu  sync.Mutex
	all map[string]bool
}

func newCalls() *calls { return &calls{all: map[string]bool{}} }

func (c *calls) add(rights ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, right := range rights {
		c.all[right] = true
	}
}

func (c *calls) sorted() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.all))
}

// own returns the permissions that the code of a function needs, without those
// that Lambda needs in its name.
func own(function string) []string {
	prefix := strings.TrimSuffix(function, "Function")
	source, dead := prefix+"Queue", prefix+"DeadLetterQueue"
	if function == stock {
		source, dead = source+".fifo", "dead-"+source+".fifo"
	}
	rights := []string{
		"dynamodb:UpdateItem LedgerTable", "sqs:ChangeMessageVisibility " + source, "sqs:SendMessage " + dead,
	}
	if function == stock {
		rights = append(rights, "dynamodb:UpdateItem StockTable")
	}
	slices.Sort(rights)
	return rights
}

// invoke runs the event in its own process and returns the permissions that it
// needed.
func (in invocation) invoke(t *testing.T, binary string) []string {
	t.Helper()
	b := newBench(t, loopback, in.faults...)
	f := b.function(t, in.function)
	environment := b.environment(f)
	environment["AWS_LAMBDA_LOG_LEVEL"] = "DEBUG" // outcomes of jobs that are done are logged at this level only
	var outcomes []string
	process, err := runtimeapi.New(runtimeapi.Options{
		Name: f.Name, Binary: binary, Account: account, Environment: environment,
		Timeout: f.Timeout, MemoryMB: f.MemoryMB,
		Output: func(line string) {
			var logged struct{ Message, Outcome, Reason string }
			if err := json.Unmarshal([]byte(line), &logged); err == nil && logged.Message == "outcome" {
				outcomes = append(outcomes, strings.TrimSpace(logged.Outcome+" "+logged.Reason))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	event, _ := in.event(t)
	answer, err := process.Invoke(t.Context(), event)
	if crash, ok := errors.AsType[*runtimeapi.FunctionError](err); ok && in.crash != "" && crash.Exited {
		answer, err = json.Marshal(map[string]string{"errorType": crash.Type, "errorMessage": crash.Message})
	}
	if closed := process.Close(t.Context()); err != nil || closed != nil {
		t.Fatalf("%s, error %v, closed %v", answer, err, closed)
	}
	in.compare(t, answer)
	// In which order jobs get their outcome depends on who answers first.
	sorted := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(in.outcomes, outcomes, sorted); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	return b.rights()
}
