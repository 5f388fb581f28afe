package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sqsafe/sqsafe/internal/jobs"
)

// Send is the subcommand that sends messages to a queue.
type Send struct {
	Target
	Queue     string            `arg:"" help:"Name, URL or ARN of the queue."`
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
stands. A "queue" must be the one that is sent to. Flags fill in what lines
leave out. Nothing is sent if a line is wrong.

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
	case sources > 1:
		return errors.New("give the message once: as an argument, with --file or with --jsonl")
	case s.Count < 1 || s.Count > jobs.MaxTimes:
		return fmt.Errorf("--count %d: want from 1 to %d", s.Count, jobs.MaxTimes)
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
	queue, client, err := s.find(ctx, s.Queue)
	if err != nil {
		return err
	}
	list, err := s.read(contents, queue)
	if err != nil {
		return err
	}
	report := newSendReport(s, queue.Name, jobs.Count(list), streams)
	options := jobs.Options{Rate: s.Rate, Observe: report.message}
	if s.Count > 1 {
		options.Distinct = rand.Text
	}
	err = jobs.Send(ctx, client, list, options)
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
func (s *Send) read(from source, queue jobs.Queue) ([]jobs.Job, error) {
	job := jobs.Job{
		Queue: queue, Attributes: s.Attribute, Group: s.Group, Dedup: s.Dedup,
		Delay: time.Duration(s.Delay) * time.Second, Times: s.Count,
	}
	if closer, ok := from.Reader.(io.Closer); ok {
		defer closer.Close()
	}
	switch {
	case s.JSONL != "":
		return s.readLines(from, job)
	case from.Reader != nil:
		data, err := io.ReadAll(io.LimitReader(from, maxBody+1)) // one byte more shows that it is too long
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from.name, err)
		}
		job.Body = string(data)
	case s.Body != nil:
		job.Body = *s.Body
	}
	return []jobs.Job{job}, job.Check()
}

func (s *Send) readLines(from source, job jobs.Job) ([]jobs.Job, error) {
	return jobs.Reader{File: from.name, Default: job, Queue: func(name string) (jobs.Queue, error) {
		if name != "" && name != job.Queue.Name && name != s.Queue {
			return job.Queue, fmt.Errorf("its queue is %q, and this sends to %s; leave %q out to send it there",
				name, job.Queue.Name, "queue")
		}
		return job.Queue, nil
	}}.Read(from)
}
