package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/jobfile"
)

// Send is the subcommand that sends messages to a queue.
type Send struct {
	Target
	Queue     string            `arg:"" optional:"" help:"Name, URL, ARN or logical id of the queue; a jobs file may name it in each line."` //nolint:lll // a struct tag is one line
	Body      *string           `arg:"" optional:"" help:"The message; - or nothing reads it from standard input."`
	File      string            `placeholder:"FILE" help:"Send the whole file as one message."`
	JSONL     string            `name:"jsonl" placeholder:"FILE" help:"Send a message for each line of a jobs file; - is standard input."`                     //nolint:lll // a struct tag is one line
	Group     string            `placeholder:"ID" help:"Message group id; FIFO queues want one."`                                                              //nolint:lll // a struct tag is one line
	Dedup     string            `placeholder:"ID" help:"Deduplication id in a FIFO queue. With --count each message has one of its own unless this is given."` //nolint:lll // a struct tag is one line
	Attribute map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"Message attribute of type String; may be given several times."`                  //nolint:lll // a struct tag is one line
	Delay     delaySeconds      `placeholder:"SECONDS" help:"Time before the message is visible, 0 to 900 s."`                                                 //nolint:lll // a struct tag is one line
	Count     int               `placeholder:"N" default:"1" help:"Send each message N times (${default})."`                                                   //nolint:lll // a struct tag is one line
	Rate      float64           `placeholder:"PER_SECOND" help:"Send no more messages than this in a second."`                                                 //nolint:lll // a struct tag is one line
	JSON      bool              `name:"json" help:"Print one JSON object for each message, and a summary."`                                                    //nolint:lll // a struct tag is one line
}

// Help returns the text below the flags.
func (s *Send) Help() string {
	return `Messages go to the local stack unless --endpoint-sqs or --aws says otherwise.

A jobs file has one JSON object a line:
  {"body":{"id":"1"},"attributes":{"a":"b"},"group":"g","dedup":"d","delay":5,"times":2}
Only "body" is required. A string is sent as its text, any other value as it
stands. Without QUEUE each line names its "queue"; with it, that is the same.
Flags fill in what lines leave out. Nothing is sent if a line is wrong.

Bodies are sent byte for byte. The exit code is 1 if a message was not sent.`
}

// maxRate is more messages a second than any program sends.
const maxRate = 1_000_000

// Validate refuses flags that contradict each other.
func (s *Send) Validate() error {
	sources := 0
	for _, given := range []bool{s.Body != nil, s.File != "", s.JSONL != ""} {
		if given {
			sources++
		}
	}
	switch {
	case s.Queue == "" && s.JSONL == "":
		return errors.New("name the queue; only the lines of a jobs file may name it themselves")
	case sources > 1:
		return errors.New("give the message once: as an argument, with --file or with --jsonl")
	case s.Count < 1 || s.Count > jobfile.MaxTimes:
		return fmt.Errorf("--count %d: want from 1 to %d", s.Count, jobfile.MaxTimes)
	case !(s.Rate >= 0 && s.Rate <= maxRate): // also if it is no number
		return fmt.Errorf("--rate %g: want more than 0, up to %d, or leave it out", s.Rate, maxRate)
	}
	return s.Target.Validate()
}

// Run sends the messages and reports the results.
func (s *Send) Run(ctx context.Context, streams Streams) error {
	contents, err := s.open(streams)
	if err != nil {
		return err
	}
	to := sendTo{command: s, found: map[string]jobfile.Queue{}}
	if s.Queue != "" {
		if _, err := to.queue(ctx, s.Queue); err != nil {
			return err
		}
	}
	list, err := s.read(ctx, contents, &to)
	if err != nil {
		return err
	}
	report := newSendReport(s, list, to.found[s.Queue].Name, streams)
	options := jobfile.Options{Rate: s.Rate, Observe: report.message}
	if s.Count > 1 {
		options.Distinct = rand.Text
	}
	err = jobfile.Send(ctx, to.client, list, options)
	return report.end(err)
}

// source is where the message is read from.
type source struct {
	name string
	io.Reader
}

func (s *Send) open(streams Streams) (source, error) {
	stdin := source{"standard input", streams.In}
	switch {
	case s.Body != nil && *s.Body != "-":
		return source{}, nil
	case s.File != "" || s.JSONL != "" && s.JSONL != "-":
		path := s.File + s.JSONL // at least one of them is empty
		data, err := os.Open(path)
		if err != nil {
			return source{}, fmt.Errorf("message file: %w", err)
		}
		return source{path, data}, nil
	case s.Body == nil && s.JSONL == "" && isTerminal(streams.In):
		return source{}, errors.New("there is no message; give it as an argument, with --file or --jsonl, or pipe it in")
	}
	return stdin, nil
}

// maxBody is the maximum size of a message in SQS.
const maxBody = 1 << 20

// read converts the content of the source to jobs, and checks them.
func (s *Send) read(ctx context.Context, from source, to *sendTo) ([]jobfile.Job, error) {
	job := jobfile.Job{
		Queue: to.found[s.Queue], Attributes: s.Attribute, Group: s.Group, Dedup: s.Dedup,
		Delay: time.Duration(s.Delay) * time.Second, Times: s.Count,
	}
	if closer, ok := from.Reader.(io.Closer); ok {
		defer closer.Close()
	}
	switch {
	case s.JSONL != "":
		return jobfile.Reader{File: from.name, Default: job, Queue: func(name string) (jobfile.Queue, error) {
			return to.line(ctx, name)
		}}.Read(from)
	case from.Reader != nil:
		data, err := from.all()
		if err != nil {
			return nil, err
		}
		job.Body = string(data)
	case s.Body != nil:
		job.Body = *s.Body
	}
	return []jobfile.Job{job}, job.Check()
}

// all reads the source as one message. Of one that is too long it reads no more than
// shows that.
func (s source) all() ([]byte, error) {
	if file, ok := s.Reader.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > maxBody {
			return nil, fmt.Errorf("%s has %d bytes; SQS takes up to %d", s.name, info.Size(), maxBody)
		}
	}
	data, err := io.ReadAll(io.LimitReader(s, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", s.name, err)
	case len(data) > maxBody:
		return nil, fmt.Errorf("%s has more than %d bytes, which is what SQS takes", s.name, maxBody)
	}
	return data, nil
}

// sendTo is the queues that messages go to, and the client for them.
type sendTo struct {
	command *Send
	client  *sqs.Client
	region  string
	found   map[string]jobfile.Queue // by the name that the user gives
}

// line returns the queue of a line of a jobs file.
func (t *sendTo) line(ctx context.Context, name string) (jobfile.Queue, error) {
	whole := t.command.Queue
	switch {
	case name == "" && whole == "":
		return jobfile.Queue{}, errors.New(`a job without "queue"; name it here, or in the command for all of them`)
	case name == "" || name == whole:
		return t.found[whole], nil
	case whole == "":
		return t.queue(ctx, name)
	}
	if q, err := t.queue(ctx, name); err != nil || q.URL != t.found[whole].URL {
		return q, fmt.Errorf("its queue is %q, and this sends to %s; leave the queue out of the command to send each line "+
			"to its own", name, t.found[whole].Name)
	}
	return t.found[whole], nil
}

// queue finds a queue and what it takes.
func (t *sendTo) queue(ctx context.Context, name string) (jobfile.Queue, error) {
	if q, known := t.found[name]; known {
		return q, nil
	}
	q, client, err := t.command.find(ctx, name)
	if err != nil {
		return q, err
	}
	region := client.Options().Region
	if t.client == nil {
		t.client, t.region = client, region
	}
	if region != t.region {
		return q, fmt.Errorf("queue %s is in %s, and others are in %s; send to one region at a time", name, region, t.region)
	}
	t.limits(ctx, &q)
	t.found[name] = q
	return q, nil
}

// limits asks what the queue takes, so that a message which it would refuse is found
// before any is sent. Where that may not be asked, SQS refuses it.
func (t *sendTo) limits(ctx context.Context, q *jobfile.Queue) {
	out, err := t.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(q.URL), AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return
	}
	q.MaxBytes, _ = strconv.Atoi(out.Attributes[string(types.QueueAttributeNameMaximumMessageSize)]) // 0 without one
	byContent := out.Attributes[string(types.QueueAttributeNameContentBasedDeduplication)]
	q.WantsDedup = q.FIFO && byContent != "true" && t.command.Count == 1
}
