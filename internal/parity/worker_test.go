//go:build unix

package parity_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// containers run each worker in a process of its own and start it again when it
// ends, as an orchestrator does.
type containers struct {
	*rig
	supervised sync.WaitGroup
	draining   chan struct{} // gets one for each worker that drains

	mu      sync.Mutex
	stopped bool
	running map[string]*exec.Cmd // by queue's logical id
	errs    []error
}

func newContainers(r *rig) *containers {
	c := &containers{rig: r, running: map[string]*exec.Cmd{}, draining: make(chan struct{}, len(r.trials))}
	r.provider.freezes = func(id string) { c.signal(id, syscall.SIGKILL) }
	return c
}

func (c *containers) start(context.Context) error {
	for _, f := range c.stack.Functions {
		c.supervised.Go(func() { c.supervise(f) })
	}
	return nil
}

// supervise runs a worker until it ends for being told to.
func (c *containers) supervise(f stack.Function) {
	queue, _ := c.stack.Queue(f.Events[0].Queue)
	for {
		cmd, log, err := c.launch(f, queue)
		if err != nil || cmd == nil {
			c.fail(err)
			return
		}
		c.read(log)
		err = cmd.Wait()
		if c.over() {
			c.fail(err)
			return
		}
		c.crashed(queue.Name)
	}
}

// launch starts a process unless the containers are told to stop.
func (c *containers) launch(f stack.Function, queue stack.Queue) (*exec.Cmd, io.Reader, error) {
	cmd := exec.Command(c.binary)
	cmd.Env = []string{
		"AWS_ENDPOINT_URL=" + c.endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null",
		"SQSAFE_QUEUE_URL=" + queue.URL, "SQSAFE_HEALTH_ADDR=off", "AWS_LAMBDA_LOG_LEVEL=DEBUG",
		fmt.Sprintf("SQSAFE_BATCH_SECONDS=%d", int(f.Timeout.Seconds())),
	}
	for name, value := range f.Environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil, nil, nil
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	c.running[queue.LogicalID] = cmd
	return cmd, log, nil
}

// read takes the log up to its end.
func (c *containers) read(log io.Reader) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c.line(lines.Text())
		var line struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "worker draining" && c.over() {
			c.draining <- struct{}{}
		}
	}
}

func (c *containers) signal(id string, s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cmd := c.running[id]; cmd != nil {
		_ = cmd.Process.Signal(s) // one that has ended is seen by its supervisor
	}
}

func (c *containers) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

func (c *containers) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *containers) drain(ctx context.Context) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	for _, t := range c.trials {
		c.signal(t.ID(), syscall.SIGTERM)
	}
	for range c.trials {
		select {
		case <-c.draining:
		case <-ctx.Done():
			return fmt.Errorf("workers that do not drain: %w", ctx.Err())
		}
	}
	return nil
}

func (c *containers) wait(ctx context.Context) error {
	kept := context.AfterFunc(ctx, func() {
		for _, t := range c.trials {
			c.signal(t.ID(), syscall.SIGKILL)
		}
	})
	defer kept()
	c.supervised.Wait()
	return errors.Join(c.errs...)
}
