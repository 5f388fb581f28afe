package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestJobsKeepTheirBodies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		want       string
		copies     int
	}{
		{"text", `{"queue":"JobsQueue","body":"{\"id\": "}`, `{"id": `, 1},
		{"JSON as it stands", `{"queue":"jobs","body":{"b":1,  "a":2.50}}`, `{"b":1,  "a":2.50}`, 1},
		{"number", `{"queue":"jobs","body":12345678901234567890}`, `12345678901234567890`, 1},
		{"several", `{"queue":"jobs","body":"x","times":3}`, `x`, 3},
		{"group", `{"queue":"ordered.fifo","body":"x","group":"g","dedup":"d"}`, `x`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			jobs, err := parseJobs("jobs.jsonl", strings.NewReader("\n"+tt.line+"\n\n"), testStack)
			if err != nil || len(jobs) != 1 {
				t.Fatalf("got %d jobs, %v", len(jobs), err)
			}
			if jobs[0].text != tt.want || jobs[0].copies() != tt.copies {
				t.Errorf("got %q, %d times; want %q, %d times", jobs[0].text, jobs[0].copies(), tt.want, tt.copies)
			}
		})
	}
}

func TestABadJobIsNamed(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, want string }{
		{"unknown queue", `{"queue":"Jobz","body":"x"}`,
			`jobs.jsonl:2: queue "Jobz" is not in the template; it has JobsQueue, OrderedQueue`},
		{"no queue", `{"body":"x"}`, `queue "" is not in the template`},
		{"no body", `{"queue":"jobs"}`, `a job without "body"`},
		{"empty body", `{"queue":"jobs","body":""}`, `the body is empty`},
		{"no group", `{"queue":"OrderedQueue","body":"x"}`, `queue OrderedQueue is FIFO; give the job a "group"`},
		{"delay", `{"queue":"jobs","body":"x","delay":901}`, `"delay" is 901; SQS takes 0 to 900 seconds`},
		{"times", `{"queue":"jobs","body":"x","times":0}`, `"times" is 0`},
		{"not JSON", `queue=jobs`, `jobs.jsonl:2: not a job`},
		{"unknown member", `{"queue":"jobs","body":"x","tmies":2}`, `unknown field "tmies"`},
		{"two values", `{"queue":"jobs","body":"x"} {}`, `more than one JSON value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseJobs("jobs.jsonl", strings.NewReader("\n"+tt.line), testStack)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %s", err, tt.want)
			}
		})
	}
}

func FuzzParseJobs(f *testing.F) {
	f.Add(`{"queue":"jobs","body":"x","times":3}`)
	f.Add(`{"queue":"jobs","body":{"a":[1,2]},"attributes":{"a":"b"}}`)
	f.Add("{\n}")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseJobs("f", strings.NewReader(text), testStack)
		for i := range jobs {
			if err == nil && (jobs[i].text == "" || jobs[i].copies() < 1) {
				t.Errorf("accepted %+v", jobs[i])
			}
		}
	})
}

func TestVariables(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "env.json")
	text := `{"Worker":{"URL":"http://mine","RETRIES":3},"Parameters":{"LEVEL":"debug","UNKNOWN":"x"}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := ReadVariables(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.check(testStack); err == nil || !strings.Contains(err.Error(), "Worker does not declare RETRIES") {
		t.Errorf("error %v, want one that names RETRIES", err)
	}
	delete(v["Worker"], "RETRIES")
	if err := v.check(testStack); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
	want := map[string]string{"URL": "http://mine", "LEVEL": "debug", "AWS_ENDPOINT_URL": "http://here"}
	if diff := cmp.Diff(want, v.environment(testStack.Functions[0], "http://here")); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if got := testStack.Functions[0].Environment["URL"]; got != "http://from-template" {
		t.Errorf("the template's own environment was changed to %s", got)
	}
}

func TestBadVariables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                         "want {",
		`{"Worker":{"URL":["a"]}}`:   "URL of Worker",
		`{"Worker":{"URL":null}}`:    "URL of Worker",
		`{"Other":{"URL":"x"}}`:      `function "Other" is not in the template`,
		`{"Worker":{"MISSING":"x"}}`: "does not declare MISSING",
	} {
		path := filepath.Join(t.TempDir(), "env.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := ReadVariables(path)
		if err == nil {
			err = v.check(testStack)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	if _, err := ReadVariables("no-such-file.json"); err == nil || !strings.Contains(err.Error(), "no-such-file.json") {
		t.Errorf("error %v, want one that names the file", err)
	}
}
