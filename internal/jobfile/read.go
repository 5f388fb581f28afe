package jobfile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// line is the JSON format of a job in a file.
type line struct {
	Queue      string            `json:"queue"`
	Body       json.RawMessage   `json:"body"`
	Attributes map[string]string `json:"attributes"`
	Group      string            `json:"group"`
	Dedup      string            `json:"dedup"`
	Delay      *int              `json:"delay"`
	Times      *int              `json:"times"`
}

// maxLine is long enough for a message of the maximum size with every byte
// escaped.
const maxLine = 8 << 20

// Reader reads a file of JSON lines, one job each, as in
//
//	{"queue":"Name","body":{"id":"1"},"attributes":{"a":"b"},"group":"g","dedup":"d","delay":5,"times":2}
//
// If the body is a JSON string, its text is sent; any other JSON value is sent
// as it is.
type Reader struct {
	// File is the name of the file in errors.
	File string
	// Queue returns the queue for the name in a line, which is "" if the line
	// has none.
	Queue func(name string) (Queue, error)
	// Default has the attributes, group, deduplication id and delay of lines
	// that do not set them.
	Default Job
}

// Read reads and checks all jobs. Its errors name file and line. Empty lines
// are skipped.
func (r Reader) Read(in io.Reader) ([]Job, error) {
	var jobs []Job
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		source := fmt.Sprintf("%s:%d", r.File, n)
		job, err := r.parse(text, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		jobs = append(jobs, job)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	return jobs, nil
}

func (r Reader) parse(text []byte, source string) (Job, error) {
	var l line
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s is a JSON %s", cmp.Or(wrong.Field, "the line"), wrong.Value)
		}
		return Job{}, fmt.Errorf(`not a job: %w; a line looks like {"queue":"Name","body":{"id":"1"}}`, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Job{}, fmt.Errorf("more than one JSON value; write one job a line")
	}
	job, err := r.job(l)
	if err != nil {
		return Job{}, err
	}
	job.Source = source
	return job, job.Check()
}

func (r Reader) job(l line) (job Job, err error) {
	job = r.Default
	if job.Queue, err = r.Queue(l.Queue); err != nil {
		return job, err
	}
	if len(l.Body) == 0 {
		return job, fmt.Errorf(`a job without "body"; give the message that is to be sent`)
	}
	if job.Body, err = text(l.Body); err != nil {
		return job, err
	}
	job.Attributes = merge(r.Default.Attributes, l.Attributes)
	if l.Group != "" {
		job.Group = l.Group
	}
	if l.Dedup != "" {
		job.Dedup = l.Dedup
	}
	if l.Delay != nil {
		if *l.Delay < 0 || *l.Delay > int(sqssend.MaxDelay/time.Second) { // before it overflows
			return job, fmt.Errorf(`"delay" is %d; SQS takes 0 to %d seconds`, *l.Delay, int(sqssend.MaxDelay.Seconds()))
		}
		job.Delay = time.Duration(*l.Delay) * time.Second
	}
	if l.Times != nil {
		if *l.Times < 1 {
			return job, fmt.Errorf(`"times" is %d; send a job at least once, or leave it out`, *l.Times)
		}
		if *l.Times > MaxTimes/job.copies() {
			return job, fmt.Errorf(`the job is to be sent %d × %d times; send it up to %d times`,
				*l.Times, job.copies(), MaxTimes)
		}
		job.Times = *l.Times * job.copies()
	}
	return job, nil
}

// merge returns the attributes of both maps. If both have a name, own is used.
func merge(defaults, own map[string]string) map[string]string {
	if len(defaults) == 0 {
		return own
	}
	all := map[string]string{}
	for _, from := range []map[string]string{defaults, own} {
		maps.Copy(all, from)
	}
	return all
}
