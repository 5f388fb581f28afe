package system

import (
	"context"
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/worker"
)

// workerHost runs the function in a container: one process after the other, and two
// while one is deployed.
type workerHost struct {
	*world
	*hostConfig
	made, deployed int
	// replace asks for another process.
	replace chan struct{}
	current *process
}

func newWorkerHost(w *world, c *hostConfig) *workerHost {
	return &workerHost{world: w, hostConfig: c, replace: make(chan struct{}, 16)}
}

// deploy starts a process and tells the one before it to stop.
func (h *workerHost) deploy() { h.replace <- struct{}{} }

// run runs processes until the history is over.
func (h *workerHost) run() {
	for {
		ended := h.start()
		r := h.seed.at("restart of %s %d", h.hostConfig.name, h.made)
		<-time.After(between(r, time.Millisecond, 10*time.Millisecond)) // a deploy may wait
		replace := h.replace
		if isClosed(ended) {
			replace = nil // else chance would decide between the two
		}
		select {
		case <-ended:
			select {
			case <-time.After(between(r, 100*time.Millisecond, 10*time.Second)):
			case <-h.over:
				return
			}
		case <-replace:
			h.deployed++
			h.current.retire()
		case <-h.over:
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// start starts a process, and returns what is closed when it has ended.
func (h *workerHost) start() <-chan struct{} {
	h.made++
	name := fmt.Sprintf("%s.%d", h.hostConfig.name, h.made)
	p := h.newProcess(name, h.releaseOf(name, h.deployed))
	h.endangers(p)
	p.slots = h.batches * min(p.release.concurrency, 10)
	h.current = p
	polling := must(worker.New(p.sqs, &worker.Options{
		QueueURL: h.source, Batches: h.batches, Drain: h.drain, BatchTimeout: h.timeout, Logger: p.log,
	}))
	p.function(polling.Queue())
	ctx, terminate := context.WithCancel(p.life)
	ended, told := make(chan struct{}), make(chan time.Time, 1)
	go func() {
		defer close(ended)
		err := polling.Run(ctx, p.processor)
		if p.isDead() {
			return
		}
		p.note(p.name, nil, "worker ends: %v", err)
		select {
		case at := <-told:
			if took := time.Since(at); took > h.drain+drainGrace {
				h.breaks("drain", nil, "%s took %v to drain", p.name, took)
			}
		default:
		}
		p.kill("exited")
	}()
	go func() {
		select {
		case <-p.retired:
			p.note(p.name, nil, "SIGTERM")
			told <- time.Now()
			p.judge.told(p, h.drain)
			terminate()
			<-p.life.Done()
		case <-p.life.Done():
			terminate()
		}
	}()
	return ended
}

// drainGrace is how long a worker may take beyond the time to drain: jobs that were cut
// off are settled, and their messages deleted.
const drainGrace = 12 * time.Second
