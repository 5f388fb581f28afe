package jobfile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	jobs "github.com/sqsafe/sqsafe/internal/jobfile"
)

func reader() jobs.Reader {
	return jobs.Reader{File: "jobs.jsonl", Queue: func(name string) (jobs.Queue, error) {
		if name == "nowhere" {
			return jobs.Queue{}, errors.New("there is no such queue")
		}
		return jobs.Queue{Name: name, FIFO: strings.HasSuffix(name, ".fifo")}, nil
	}}
}

func TestReadDoesNotChangeBodies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		want       jobs.Job
	}{
		{"text", `{"queue":"q","body":"{\"id\": "}`, jobs.Job{Body: `{"id": `}},
		{"JSON is not changed", `{"queue":"q","body":{"b":1,  "a":2.50}}`, jobs.Job{Body: `{"b":1,  "a":2.50}`}},
		{"number", `{"queue":"q","body":12345678901234567890}`, jobs.Job{Body: `12345678901234567890`}},
		{"several", `{"queue":"q","body":"x","times":3}`, jobs.Job{Body: "x", Times: 3}},
		{"delayed", `{"queue":"q","body":"x","delay":5}`, jobs.Job{Body: "x", Delay: 5 * time.Second}},
		{"group", `{"queue":"q.fifo","body":"x","group":"g","dedup":"d","attributes":{"a":"b"}}`,
			jobs.Job{Body: "x", Group: "g", Dedup: "d", Attributes: map[string]string{"a": "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := reader().Read(strings.NewReader("\n" + tt.line + "\n\n"))
			if err != nil || len(got) != 1 {
				t.Fatalf("got %d jobs, %v", len(got), err)
			}
			tt.want.Queue, tt.want.Source = got[0].Queue, "jobs.jsonl:2"
			if diff := cmp.Diff(tt.want, got[0]); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultsFillIn(t *testing.T) {
	t.Parallel()
	r := reader()
	r.Default = jobs.Job{
		Group: "g", Dedup: "d", Times: 2, Attributes: map[string]string{"a": "default", "b": "default"},
	}
	got, err := r.Read(strings.NewReader(`{"queue":"q.fifo","body":"x"}
{"queue":"q.fifo","body":"y","group":"own","dedup":"own","times":3,"delay":0,"attributes":{"a":"own"}}`))
	if err != nil {
		t.Fatal(err)
	}
	queue := jobs.Queue{Name: "q.fifo", FIFO: true}
	want := []jobs.Job{
		{Queue: queue, Body: "x", Group: "g", Dedup: "d", Times: 2, Source: "jobs.jsonl:1",
			Attributes: map[string]string{"a": "default", "b": "default"}},
		{Queue: queue, Body: "y", Group: "own", Dedup: "own", Times: 6, Source: "jobs.jsonl:2",
			Attributes: map[string]string{"a": "own", "b": "default"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, want string }{
		{"unknown queue", `{"queue":"nowhere","body":"x"}`, `jobs.jsonl:2: there is no such queue`},
		{"no body", `{"queue":"q"}`, `a job without "body"`},
		{"empty body", `{"queue":"q","body":""}`, `the body is empty`},
		{"no group", `{"queue":"q.fifo","body":"x"}`, `queue q.fifo is FIFO; give the job a "group"`},
		{"delay", `{"queue":"q","body":"x","delay":901}`, `"delay" is 901; SQS takes 0 to 900 seconds`},
		{"times", `{"queue":"q","body":"x","times":0}`, `"times" is 0`},
		{"not JSON", `queue=q`, `jobs.jsonl:2: not a job`},
		{"a member of another type", `{"queue":7,"body":"x"}`, `not a job: queue is a JSON number; a line looks like`},
		{"not an object", `["q"]`, `not a job: the line is a JSON array; a line looks like`},
		{"unknown member", `{"queue":"q","body":"x","tmies":2}`, `unknown field "tmies"`},
		{"two values", `{"queue":"q","body":"x"} {}`, `more than one JSON value`},
		{"text after the job", `{"queue":"q","body":"x"} }`, `more than one JSON value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := reader().Read(strings.NewReader("\n" + tt.line))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %s", err, tt.want)
			}
		})
	}
	if _, err := reader().Read(iotest.ErrReader(errors.New("torn"))); err == nil || err.Error() != "jobs.jsonl: torn" {
		t.Errorf("error %v, want one that names the file", err)
	}
	if _, err := reader().Read(strings.NewReader(strings.Repeat("x", 9<<20))); err == nil {
		t.Error("no error for a line of 9 MiB")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"queue":"q","body":"x","times":3}`)
	f.Add(`{"queue":"q.fifo","body":{"a":[1,2]},"attributes":{"a":"b"},"group":"g"}`)
	f.Add("{\n}")
	f.Fuzz(func(t *testing.T, text string) {
		read, err := reader().Read(strings.NewReader(text))
		for i := range read {
			if err == nil && read[i].Check() != nil {
				t.Errorf("accepted %+v", read[i])
			}
		}
	})
}
