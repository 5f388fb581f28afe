//go:build unix

package main

import "time"

// The times of queues and functions: short, so that what a killed process had is
// handed out again soon.
const (
	visibility = 9 * time.Second
	timeout    = 6 * time.Second
	receives   = 40
)

// queue is one of the stack, with its dead-letter queue.
type queue struct {
	// id is its logical id, and its name but for the end of a FIFO queue's.
	id   string
	fifo bool
	// function and workers say what polls it: so many invocations of the function at a time,
	// and so many processes of the worker, each of which has several batches.
	function, workers int
	// invocations is how many invocations a process of the function has at a time; 0 for one.
	invocations int
	// long: it has jobs that take longer than the visibility timeout.
	long bool
}

var queues = []*queue{
	{id: "Plain", function: 4, invocations: 2},
	{id: "Ordered", fifo: true, function: 2},
	{id: "Shared", function: 3, invocations: 3, workers: 1},
	{id: "SharedOrdered", fifo: true, function: 2, workers: 1},
	{id: "Long", workers: 3, long: true},
}

func (q *queue) name() string {
	if q.fifo {
		return q.id + ".fifo"
	}
	return q.id
}

func (q *queue) dead() string { return "Dead" + q.name() }

// takesPoison: a verdict that was written and not sent by a process without a deadline
// is left alone for five minutes, for which no campaign waits.
func (q *queue) takesPoison() bool { return !q.long }
