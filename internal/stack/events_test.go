package stack_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/sqsafe/sqsafe/internal/stack"
)

const samples = "../../events"

// wholeTemplate reads the repository's template.
func wholeTemplate(t *testing.T, parameters map[string]string) *stack.Stack {
	t.Helper()
	s, err := stack.Read("../../template.yaml", &stack.Options{Parameters: parameters})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// strictly decodes JSON, and fails the test if it has a member that v does not
// have.
func strictly(t *testing.T, data []byte, v any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		t.Fatal(err)
	}
	if decoder.More() {
		t.Fatal("something follows the JSON value")
	}
}

func TestSampleEvents(t *testing.T) {
	t.Parallel()
	template := wholeTemplate(t, nil)
	files, err := filepath.Glob(filepath.Join(samples, "*.json"))
	if err != nil || len(files) < 11 {
		t.Fatalf("%d sample events, %v", len(files), err)
	}
	var mutex sync.Mutex
	seen := map[string]string{} // file by message id
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			source, _ := template.Queue(sourceOf(filepath.Base(file)))
			var batch events.SQSEvent
			strictly(t, read(t, file), &batch)
			if n := len(batch.Records); n < 1 || n > 10 {
				t.Errorf("%d records, want 1 to 10", n)
			}
			for _, m := range batch.Records {
				checkRecord(t, m, source.ARN)
				checkOrder(t, m, source.FIFO)
				mutex.Lock()
				if other, ok := seen[m.MessageId]; ok {
					t.Errorf("message id %s is in %s as well", m.MessageId, other)
				}
				seen[m.MessageId] = filepath.Base(file)
				mutex.Unlock()
			}
		})
	}
}

// sourceOf returns the queue of a sample event. The files of charges are named
// for the outcome of the charge.
func sourceOf(file string) string {
	switch {
	case strings.HasPrefix(file, "stock"):
		return "StockQueue"
	case strings.HasPrefix(file, "notify"):
		return "NotifyQueue"
	}
	return "ChargeQueue"
}

var (
	messageID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	millis    = regexp.MustCompile(`^[0-9]{13}$`)
	sequence  = regexp.MustCompile(`^[0-9]{20}$`)
)

func checkRecord(t *testing.T, m events.SQSMessage, arn string) {
	t.Helper()
	if !messageID.MatchString(m.MessageId) || m.ReceiptHandle == "" {
		t.Errorf("message id %q, receipt handle %q", m.MessageId, m.ReceiptHandle)
	}
	if m.EventSource != "aws:sqs" || m.EventSourceARN != arn || m.AWSRegion != "us-east-1" {
		t.Errorf("%s: source %s %s in %s, want %s", m.MessageId, m.EventSource, m.EventSourceARN, m.AWSRegion, arn)
	}
	sum := md5.Sum([]byte(m.Body))
	if got := hex.EncodeToString(sum[:]); got != m.Md5OfBody {
		t.Errorf("%s: the body's MD5 is %s, not %s", m.MessageId, got, m.Md5OfBody)
	}
	if (len(m.MessageAttributes) > 0) != (m.Md5OfMessageAttributes != "") {
		t.Errorf("%s: %d message attributes with the MD5 %q", m.MessageId, len(m.MessageAttributes), m.Md5OfMessageAttributes)
	}
	if n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]); err != nil || n < 1 {
		t.Errorf("%s: receive count %q", m.MessageId, m.Attributes["ApproximateReceiveCount"])
	}
	for _, name := range []string{"SentTimestamp", "ApproximateFirstReceiveTimestamp"} {
		if !millis.MatchString(m.Attributes[name]) {
			t.Errorf("%s: %s %q", m.MessageId, name, m.Attributes[name])
		}
	}
	if m.Attributes["SenderId"] == "" {
		t.Errorf("%s: no SenderId", m.MessageId)
	}
}

// checkOrder checks that a message has the attributes of FIFO queues if and
// only if its queue is one. The deduplication id is that of the content.
func checkOrder(t *testing.T, m events.SQSMessage, fifo bool) {
	t.Helper()
	if !fifo {
		for _, name := range []string{"MessageGroupId", "SequenceNumber", "MessageDeduplicationId"} {
			if value, ok := m.Attributes[name]; ok {
				t.Errorf("%s: %s %s in a standard queue", m.MessageId, name, value)
			}
		}
		return
	}
	if m.Attributes["MessageGroupId"] == "" || !sequence.MatchString(m.Attributes["SequenceNumber"]) {
		t.Errorf("%s: group %q, sequence number %q",
			m.MessageId, m.Attributes["MessageGroupId"], m.Attributes["SequenceNumber"])
	}
	sum := sha256.Sum256([]byte(m.Body))
	if got, want := m.Attributes["MessageDeduplicationId"], hex.EncodeToString(sum[:]); got != want {
		t.Errorf("%s: deduplication id %s, want the body's SHA-256 %s", m.MessageId, got, want)
	}
}

func TestSampleReceiveCountIsTheTemplatesMaximum(t *testing.T) {
	t.Parallel()
	source, _ := wholeTemplate(t, nil).Queue("ChargeQueue")
	var batch events.SQSEvent
	strictly(t, read(t, filepath.Join(samples, "last-receive.json")), &batch)
	got := batch.Records[0].Attributes["ApproximateReceiveCount"]
	if want := strconv.Itoa(source.MaxReceiveCount); got != want {
		t.Errorf("receive count %s, want the queue's maxReceiveCount %s", got, want)
	}
}

func TestSampleJobs(t *testing.T) {
	t.Parallel()
	s := wholeTemplate(t, nil)
	lines := strings.Split(strings.TrimSpace(string(read(t, filepath.Join(samples, "jobs.jsonl")))), "\n")
	times := 0
	for i, line := range lines {
		var job struct {
			Queue      string            `json:"queue"`
			Body       json.RawMessage   `json:"body"`
			Attributes map[string]string `json:"attributes"`
			Group      string            `json:"group"`
			Dedup      string            `json:"dedup"`
			Delay      int               `json:"delay"`
			Times      int               `json:"times"`
		}
		strictly(t, []byte(line), &job)
		source, ok := s.Queue(job.Queue)
		if !ok || len(job.Body) == 0 {
			t.Errorf("line %d: queue %q, body %s", i+1, job.Queue, job.Body)
		}
		if source.FIFO {
			checkGroup(t, i+1, job.Group, job.Body)
		}
		times = max(times, job.Times)
	}
	if times != 10 {
		t.Errorf("the most that a payload is sent is %d times, want 10", times)
	}
}

// checkGroup checks that the jobs that take an SKU are in the message group of
// the SKU.
func checkGroup(t *testing.T, line int, group string, body []byte) {
	t.Helper()
	var withdrawal struct{ SKU string }
	if err := json.Unmarshal(body, &withdrawal); err != nil || group == "" || group != withdrawal.SKU {
		t.Errorf("line %d: group %q of SKU %q, %v", line, group, withdrawal.SKU, err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
