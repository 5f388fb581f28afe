package jobfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sqsafe/sqsafe/internal/sqssend"
)

// Queue is the queue that a job is sent to.
type Queue = sqssend.Queue

// MaxTimes is the greatest number of times that one job is sent: a greater number is taken
// for a mistake.
const MaxTimes = 1_000_000

// Job is a message to send, once or several times.
type Job struct {
	Queue Queue
	// Body is sent unchanged.
	Body string
	// Attributes are sent as message attributes of type String.
	Attributes map[string]string
	// Group is the message group id, and Dedup the deduplication id.
	Group, Dedup string
	// Delay is the time before the message becomes visible: 0 to 15 min in
	// whole seconds.
	Delay time.Duration
	// Times is how often the job is sent, up to MaxTimes; 0 means once.
	Times int
	// Source is the file and line of the job, such as "jobs.jsonl:3"; empty if
	// there is none.
	Source string
}

// Check returns an error if SQS would refuse the job, before anything is sent.
func (j *Job) Check() error {
	switch {
	case j.Times < 0:
		return fmt.Errorf("%s is %d; send a job at least once, or leave it out", j.member("times"), j.Times)
	case j.Times > MaxTimes:
		return fmt.Errorf("the job is to be sent %d times; send it up to %d times", j.Times, MaxTimes)
	}
	return j.draft().Check()
}

// member is how the user names a member of the job: in a line of a file, or as a flag.
func (j *Job) member(name string) string {
	if j.Source == "" {
		return "--" + name
	}
	return strconv.Quote(name)
}

// draft returns the message of the job.
func (j *Job) draft() *sqssend.Draft {
	return &sqssend.Draft{
		Queue: j.Queue, Body: j.Body, Attributes: sqssend.Texts(j.Attributes), Group: j.Group, Dedup: j.Dedup,
		Delay: j.Delay, Member: j.member,
	}
}

// copies returns how often the job is sent.
func (j *Job) copies() int { return max(1, j.Times) }

// Count returns the number of messages in the jobs.
func Count(jobs []Job) int {
	n := 0
	for i := range jobs {
		n += jobs[i].copies()
	}
	return n
}

// text returns the body for a JSON value: the text of a string, or any other
// value as it is in the file.
func text(body json.RawMessage) (string, error) {
	if body[0] != '"' {
		return string(body), nil
	}
	var s string
	err := json.Unmarshal(body, &s)
	return s, err
}
