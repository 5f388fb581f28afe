package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/internal/stack"
)

var testStack = &stack.Stack{
	Queues: []stack.Queue{
		{LogicalID: "JobsQueue", Name: "jobs", URL: "http://host/000000000000/jobs"},
		{LogicalID: "OrderedQueue", Name: "ordered.fifo", FIFO: true},
	},
	Functions: []stack.Function{
		{LogicalID: "Worker", Environment: map[string]string{"URL": "http://from-template", "LEVEL": "info"}},
	},
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestJobsNameQueuesOfTheTemplate(t *testing.T) {
	t.Parallel()
	read, err := readJobs(write(t, `{"queue":"jobs","body":"x"}
{"queue":"OrderedQueue","body":"y","group":"g","dedup":"d"}`), testStack)
	if err != nil {
		t.Fatal(err)
	}
	got := []jobfile.Queue{read[0].Queue, read[1].Queue}
	want := []jobfile.Queue{
		{Name: "jobs", URL: "http://host/000000000000/jobs"}, {Name: "ordered.fifo", FIFO: true, WantsDedup: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		`{"queue":"Jobz","body":"x"}`:                     `:1: queue "Jobz" is not in the template; it has JobsQueue, Ord`,
		`{"body":"x"}`:                                    `:1: a job without "queue"; the template has JobsQueue, Ord`,
		"\n" + `{"queue":"jobs"}`:                         `:2: a job without "body"`,
		`{"queue":"OrderedQueue","body":"x","group":"g"}`: `queue ordered.fifo has no ContentBasedDeduplication`,
		`{"queue":"OrderedQueue","body":"x"}`:             `queue ordered.fifo is FIFO; give the job a "group"`,
	} {
		if _, err := readJobs(write(t, text), testStack); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	if _, err := readJobs("no-such-file.jsonl", testStack); err == nil || !strings.Contains(err.Error(), "no-such-file") {
		t.Errorf("error %v, want one that names the file", err)
	}
}
