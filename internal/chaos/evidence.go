//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/sqs"
)

// evidence is a folder with what happened. It is safe for concurrent use.
type evidence struct {
	folder string

	mu    sync.Mutex
	files map[string]*log
	start time.Time
	errs  []error
	// present are the latest events of the messages that are in queues, by queue and id.
	present map[place]sqs.Event
	// gone counts the messages that left queues which are no dead-letter queues.
	gone int
}

type place struct{ queue, message string }

type log struct {
	file *os.File
	*bufio.Writer
}

// The files of the folder.
const (
	planFile      = "plan.jsonl"
	strikesFile   = "strikes.log"
	functionsFile = "functions.jsonl"
	workersFile   = "workers.log"
	queuesFile    = "queues.jsonl"
)

// newEvidence makes the folder, without what an earlier campaign left there.
func newEvidence(folder string) (*evidence, error) {
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return &evidence{folder: folder, files: map[string]*log{}, start: time.Now(), present: map[place]sqs.Event{}}, nil
}

// write adds a line to a file, with the time since the start.
func (e *evidence) write(name, line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writeLocked(name, fmt.Sprintf("%9.3f %s", time.Since(e.start).Seconds(), line))
}

func (e *evidence) writeLocked(name, line string) {
	l := e.files[name]
	if l == nil {
		file, err := os.Create(filepath.Join(e.folder, name))
		if err != nil {
			e.errs = append(e.errs, err)
			return
		}
		l = &log{file, bufio.NewWriter(file)}
		e.files[name] = l
	}
	_, _ = l.WriteString(line + "\n") // Flush has the error
}

// record adds a value as a line of JSON.
func (e *evidence) record(name string, value any) {
	line, err := json.Marshal(value)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.errs = append(e.errs, err)
		return
	}
	e.writeLocked(name, string(line))
}

// queue records what happens to a message.
func (e *evidence) queue(in sqs.Event) {
	e.record(queuesFile, in)
	e.mu.Lock()
	defer e.mu.Unlock()
	at := place{in.Queue, in.MessageID}
	in.Body = e.present[at].Body + in.Body // it is told only once
	switch in.Kind {
	case sqs.Deleted, sqs.Redriven:
		delete(e.present, at)
		e.gone++
	default:
		e.present[at] = in
	}
}

// removed counts the messages that have left a queue.
func (e *evidence) removed() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gone
}

// keep writes what was found.
func (e *evidence) keep(f findings, v verdict) {
	for _, problem := range v.broken {
		e.write("broken.log", problem)
	}
	for _, id := range slices.Sorted(maps.Keys(f.accounts)) {
		for _, c := range f.accounts[id].calls {
			e.write("calls.log", fmt.Sprintf("%s: at %.3f %s in process %d with key %s: %s, done %t",
				id, c.at.Sub(e.start).Seconds(), c.what, c.process, c.key, c.answer, c.done))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.items)) {
		e.record("ledger.jsonl", f.items[id])
	}
	for _, l := range f.letters {
		e.record("letters.jsonl", l)
	}
	e.mu.Lock()
	left := slices.Collect(maps.Values(e.present))
	e.mu.Unlock()
	for _, in := range left {
		e.record("left.jsonl", in)
	}
}

// close ends all files. It removes the folder unless it is to be kept.
func (e *evidence) close(kept bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	errs := e.errs
	for _, l := range e.files {
		errs = append(errs, l.Flush(), l.file.Close())
	}
	if !kept {
		errs = append(errs, os.RemoveAll(e.folder))
	}
	return errors.Join(errs...)
}
