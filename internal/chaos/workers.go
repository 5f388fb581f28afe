//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// workers run each worker in a process of its own and start it again when it ends, as
// an orchestrator does.
type workers struct {
	binary, endpoint, provider string
	fleet                      *fleet
	// line takes the lines that they write.
	line func(pid int, queue, text string)

	supervised sync.WaitGroup
	stopping   chan struct{}
	mu         sync.Mutex
	errs       []error
}

// build compiles the job as a worker.
func build(ctx context.Context, source, folder string) (binary string, err error) {
	binary = filepath.Join(folder, "worker")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the worker: %w: %s", err, output)
	}
	return binary, nil
}

func (w *workers) start() {
	for _, q := range queues {
		for range q.workers {
			w.supervised.Go(func() {
				if err := w.supervise(q); err != nil {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.errs = append(w.errs, err)
				}
			})
		}
	}
}

// restart is how long a worker that has ended stays away.
const restart = 200 * time.Millisecond

// supervise runs a worker again and again until it is told to stop.
func (w *workers) supervise(q *queue) error {
	for {
		cmd := exec.Command(w.binary)
		cmd.Env = w.environment(q)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		log, err := cmd.StderrPipe()
		if err != nil {
			return err
		}
		parent, err := cmd.StdinPipe() // its end is the end of the worker
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		pid := cmd.Process.Pid
		w.fleet.add(process{pid, inWorker, q})
		ended := make(chan struct{})
		go w.end(cmd, ended)
		w.read(log, pid, q)
		err = cmd.Wait()
		close(ended)
		_ = parent.Close()
		w.fleet.drop(pid)
		w.line(pid, q.id, "ended: "+cmd.ProcessState.String())
		select {
		case <-w.stopping:
			return err
		case <-time.After(restart):
		}
	}
}

// stopLimit is after how long orchestrators kill what they have told to end.
const stopLimit = 30 * time.Second

// end ends a worker when all are to stop.
func (w *workers) end(cmd *exec.Cmd, ended <-chan struct{}) {
	select {
	case <-w.stopping:
		w.fleet.end(cmd.Process.Pid)
	case <-ended:
		return
	}
	select {
	case <-ended:
	case <-time.After(stopLimit):
		_ = cmd.Process.Kill()
	}
}

func (w *workers) environment(q *queue) []string {
	env := []string{
		"AWS_ENDPOINT_URL=" + w.endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_LAMBDA_LOG_LEVEL=DEBUG",
		"SQSAFE_QUEUE_URL=" + w.endpoint + "/" + awsAccount + "/" + q.name(),
		"SQSAFE_DLQ_URL=" + w.endpoint + "/" + awsAccount + "/" + q.dead(),
		"SQSAFE_TABLE=" + table, fmt.Sprintf("SQSAFE_MAX_RECEIVES=%d", receives),
		"SQSAFE_CONCURRENCY=4", "SQSAFE_BATCHES=3", "SQSAFE_LEASE_SECONDS=10", "SQSAFE_DRAIN_SECONDS=3",
		"SQSAFE_HEALTH_ADDR=off", "SQSAFE_METRICS_NAMESPACE=off", "CHAOS_PROVIDER=" + w.provider,
	}
	if !q.long {
		env = append(env, fmt.Sprintf("SQSAFE_BATCH_SECONDS=%d", int(timeout.Seconds())))
	}
	return env
}

func (w *workers) read(log io.Reader, pid int, q *queue) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		w.line(pid, q.id, lines.Text())
	}
}

// stop tells all to end, waits until they have, and gives the errors of those that did
// not end as they should.
func (w *workers) stop() error {
	close(w.stopping)
	w.supervised.Wait()
	return errors.Join(w.errs...)
}
