package jobs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Queue is the queue that a job is sent to.
type Queue struct {
	// Name is the queue's name in errors.
	Name string
	URL  string
	FIFO bool
	// WantsDedup says that each job needs a deduplication id: the queue is FIFO, has
	// no ContentBasedDeduplication, and nobody makes ids.
	WantsDedup bool
	// MaxBytes is the queue's MaximumMessageSize; 0 means that of SQS, 1 MiB.
	MaxBytes int
}

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
	// Times is how often the job is sent; 0 means once.
	Times int
	// Source is the file and line of the job, such as "jobs.jsonl:3"; empty if
	// there is none.
	Source string
}

// SQS limits.
const (
	MaxDelay = 15 * time.Minute
	// MaxTimes bounds how often one job is sent: more is a mistake.
	MaxTimes   = 1_000_000
	maxBytes   = 1 << 20
	maxEntries = 10
)

// Check returns an error if SQS would refuse the job, before anything is sent.
func (j *Job) Check() error {
	switch {
	case j.Body == "":
		return fmt.Errorf("the body is empty; SQS takes messages of at least one character")
	case j.size() > j.Queue.maxBytes():
		return fmt.Errorf("body and attributes have %d bytes; %s takes up to %d",
			j.size(), j.Queue.limiting(), j.Queue.maxBytes())
	case j.Delay < 0 || j.Delay > MaxDelay:
		return fmt.Errorf(`%s is %d; SQS takes 0 to %d seconds`,
			j.member("delay"), int(j.Delay.Seconds()), int(MaxDelay.Seconds()))
	case j.Times < 0:
		return fmt.Errorf(`%s is %d; send a job at least once, or leave it out`, j.member("times"), j.Times)
	case j.Times > MaxTimes:
		return fmt.Errorf("the job is to be sent %d times; send it up to %d times", j.Times, MaxTimes)
	}
	if err := legal(j.Body); err != nil {
		return fmt.Errorf("the body %w", err)
	}
	if err := checkAttributes(j.Attributes); err != nil {
		return err
	}
	for name, value := range map[string]string{"group": j.Group, "dedup": j.Dedup} {
		if !legalID.MatchString(value) {
			return fmt.Errorf("%s is %q; SQS takes up to 128 letters, digits and punctuation marks, without spaces",
				j.member(name), value)
		}
	}
	return j.checkQueue()
}

// member is how the user names a member of the job: in a line of a file, or as a flag.
func (j *Job) member(name string) string {
	if j.Source == "" {
		return "--" + name
	}
	return strconv.Quote(name)
}

func (q Queue) maxBytes() int {
	if q.MaxBytes > 0 {
		return q.MaxBytes
	}
	return maxBytes
}

func (q Queue) limiting() string {
	if q.MaxBytes > 0 && q.MaxBytes < maxBytes {
		return "queue " + q.Name
	}
	return "SQS"
}

// What SQS accepts.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
var (
	legalID   = regexp.MustCompile(`^[!-~]{0,128}$`)
	legalName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	reserved  = regexp.MustCompile(`(?i)^(aws|amazon)\.`)
)

const (
	maxAttributes    = 10
	maxAttributeName = 256
)

func checkAttributes(attributes map[string]string) error {
	if len(attributes) > maxAttributes {
		return fmt.Errorf("it has %d attributes; SQS takes up to %d", len(attributes), maxAttributes)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[name]
		switch {
		case name == "" || value == "":
			return fmt.Errorf("attribute %q is %q; SQS wants a name and a value", name, value)
		case len(name) > maxAttributeName:
			return fmt.Errorf("attribute %.20s… has a name of %d bytes; SQS takes up to %d", name, len(name), maxAttributeName)
		case reserved.MatchString(name):
			return fmt.Errorf("attribute %q: names that begin with AWS. or Amazon. are reserved; choose another", name)
		case !legalName.MatchString(name):
			return fmt.Errorf("attribute %q: SQS takes names of letters, digits, _ and -, with single periods between them",
				name)
		}
		if err := legal(value); err != nil {
			return fmt.Errorf("attribute %s %w", name, err)
		}
	}
	return nil
}

func (j *Job) checkQueue() error {
	switch q := j.Queue; {
	case q.FIFO && j.Group == "":
		return fmt.Errorf(`queue %s is FIFO; give the job a %s`, q.Name, j.member("group"))
	case q.FIFO && j.Delay > 0:
		return fmt.Errorf(`queue %s is FIFO; a %s can be set for the whole queue only`, q.Name, j.member("delay"))
	case !q.FIFO && j.Dedup != "":
		return fmt.Errorf(`queue %s is not FIFO; leave %s out`, q.Name, j.member("dedup"))
	case q.WantsDedup && j.Dedup == "":
		return fmt.Errorf(`queue %s has no ContentBasedDeduplication; give the job a %s`, q.Name, j.member("dedup"))
	}
	return nil
}

// legal returns an error for characters that SQS does not accept. It accepts
// those of XML 1.0.
func legal(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("is not UTF-8 text; encode it, for example as base64")
	}
	for i, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return fmt.Errorf("has the character U+%04X at byte %d, which SQS does not take", r, i)
		}
	}
	return nil
}

// copies returns how often the job is sent.
func (j *Job) copies() int { return max(1, j.Times) }

// size returns how many bytes the job adds to a message, or to a batch call.
func (j *Job) size() int {
	n := len(j.Body)
	for name, value := range j.Attributes {
		n += len(name) + len("String") + len(value)
	}
	return n
}

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
