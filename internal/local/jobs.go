package local

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sqsafe/sqsafe/internal/endpoint"
	"github.com/sqsafe/sqsafe/internal/jobfile"
	"github.com/sqsafe/sqsafe/internal/stack"
)

// readJobs reads a file of JSON lines and checks each against the stack.
func readJobs(path string, s *stack.Stack) ([]jobfile.Job, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("jobs file: %w", err)
	}
	defer file.Close()
	return jobfile.Reader{File: path, Queue: func(name string) (jobfile.Queue, error) {
		queue, known := s.Queue(name)
		switch {
		case name == "":
			return jobfile.Queue{}, fmt.Errorf(`a job without "queue"; the template has %s`, queueNames(s))
		case !known:
			return jobfile.Queue{}, fmt.Errorf("queue %q is not in the template; it has %s", name, queueNames(s))
		}
		return jobQueue(queue), nil
	}}.Read(file)
}

// jobQueue is a queue of the template with what it takes.
func jobQueue(q stack.Queue) jobfile.Queue {
	most, _ := strconv.Atoi(q.Attributes["MaximumMessageSize"]) // 0 without one
	return jobfile.Queue{
		Name: q.Name, URL: q.URL, FIFO: q.FIFO, MaxBytes: most,
		WantsDedup: q.FIFO && q.Attributes["ContentBasedDeduplication"] != "true",
	}
}

// send sends the jobs of the file in order.
func (s *Stack) send(ctx context.Context) error {
	for i := range s.jobs { // another engine's URLs were not known when they were read
		queue, _ := s.template.Queue(s.jobs[i].Queue.Name)
		s.jobs[i].Queue.URL = queue.URL
	}
	var refused error
	err := jobfile.Send(ctx, s.queues, s.jobs, jobfile.Options{Observe: func(r jobfile.Result) {
		switch {
		case r.Err != nil && refused == nil:
			refused = fmt.Errorf("%s, to queue %s: %w", r.Job.Source, r.Job.Queue.Name, endpoint.Brief(r.Err))
		case r.Err == nil && s.options.EndpointSQS != "": // the emulator tells by itself
			e := Event{Kind: KindSent, Queue: r.Job.Queue.Name, MessageID: r.MessageID}
			if r.Job.Delay > 0 {
				e.DelaySeconds = seconds(r.Job.Delay)
			}
			s.journal.write(e)
		}
	}})
	s.jobs = nil
	if refused != nil {
		return refused
	}
	return err
}

func queueNames(s *stack.Stack) string {
	var names []string
	for _, q := range s.Queues {
		names = append(names, q.LogicalID)
	}
	return strings.Join(names, ", ")
}
