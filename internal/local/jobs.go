package local

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// Job is one line of a jobs file.
type Job struct {
	// Queue is the queue's logical id or name.
	Queue string `json:"queue"`
	// Body is sent as it is: a JSON string as its text, any other JSON value as
	// it stands in the file.
	Body json.RawMessage `json:"body"`
	// Attributes become message attributes of type String.
	Attributes map[string]string `json:"attributes"`
	// Group is the message group id, and Dedup the deduplication id.
	Group string `json:"group"`
	Dedup string `json:"dedup"`
	// Delay is the time before the message is visible, 0 to 900 s.
	Delay int `json:"delay"`
	// Times is how often it is sent; 0 means once.
	Times *int `json:"times"`

	text string
}

const (
	maxDelay    = 15 * time.Minute
	maxJobsLine = 8 << 20
)

// ReadJobs reads a file of JSON lines and checks each against the stack. Its
// errors name file and line. Empty lines are skipped.
func ReadJobs(path string, s *stack.Stack) ([]Job, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("jobs file: %w", err)
	}
	defer file.Close()
	return parseJobs(path, file, s)
}

func parseJobs(path string, r io.Reader, s *stack.Stack) ([]Job, error) {
	var jobs []Job
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxJobsLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		job, err := parseJob(line, s)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		jobs = append(jobs, job)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return jobs, nil
}

func parseJob(line []byte, s *stack.Stack) (Job, error) {
	var job Job
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&job); err != nil {
		return job, fmt.Errorf(`not a job: %w; a line looks like {"queue":"Name","body":{"id":"1"}}`, err)
	}
	if decoder.More() {
		return job, fmt.Errorf("more than one JSON value; write one job a line")
	}
	return job, job.check(s)
}

func (j *Job) check(s *stack.Stack) error {
	if len(j.Body) == 0 {
		return fmt.Errorf(`a job without "body"; give the message that is to be sent`)
	}
	if j.text = string(j.Body); j.Body[0] == '"' {
		if err := json.Unmarshal(j.Body, &j.text); err != nil {
			return err
		}
	}
	queue, known := s.Queue(j.Queue)
	switch {
	case !known:
		return fmt.Errorf("queue %q is not in the template; it has %s", j.Queue, queueNames(s))
	case queue.FIFO && j.Group == "":
		return fmt.Errorf(`queue %s is FIFO; give the job a "group"`, j.Queue)
	case j.text == "":
		return fmt.Errorf("the body is empty; SQS takes messages of at least one character")
	case j.Delay < 0 || time.Duration(j.Delay)*time.Second > maxDelay:
		return fmt.Errorf(`"delay" is %d; SQS takes 0 to %d seconds`, j.Delay, int(maxDelay.Seconds()))
	case j.Times != nil && *j.Times < 1:
		return fmt.Errorf(`"times" is %d; send a job at least once, or leave the line out`, *j.Times)
	}
	j.Queue = queue.LogicalID
	return nil
}

// copies is how often the job is sent.
func (j *Job) copies() int {
	if j.Times == nil {
		return 1
	}
	return *j.Times
}

func queueNames(s *stack.Stack) string {
	var names strings.Builder
	for i, q := range s.Queues {
		if i > 0 {
			names.WriteString(", ")
		}
		names.WriteString(q.LogicalID)
	}
	return names.String()
}
