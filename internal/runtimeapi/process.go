package runtimeapi

import (
	"errors"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// outputWait is how long to wait for the output of a process that has ended, if one
// of its children keeps the pipe open.
const outputWait = 250 * time.Millisecond

// process is one child process and its Runtime API.
type process struct {
	api    *api
	cmd    *exec.Cmd
	output *lineWriter
	report *report
	server *http.Server
	// address is where the process finds its Runtime API.
	address string
	killed  atomic.Bool
	// up is closed when the start has ended. If it failed, broken returns the
	// error for an invocation; otherwise broken is nil.
	up     chan struct{}
	broken func(*invocation) *FunctionError
	// The function's lock guards the number of slots taken, and whether the
	// process gets no further invocation.
	taken   int
	retired bool
	// exited is closed after the process has ended and its output has been
	// read.
	exited chan struct{}
}

// hooks are the calls from a process to its function.
type hooks struct {
	observe func(Event)
	print   func(line string)
	// asks is called when the process requests an event, and when it
	// disconnects.
	asks func(p *process, still bool)
	// ended is called before the end is observed.
	ended func(*process)
}

func startProcess(o Options, h hooks) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	report, err := newReport(o)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	p := &process{
		output: &lineWriter{emit: h.print}, report: report, up: make(chan struct{}), exited: make(chan struct{}),
	}
	p.api = newAPI(o, p.exited, func(inv *invocation) {
		h.observe(Event{Kind: Invoked, RequestID: inv.id, PID: p.cmd.Process.Pid})
	}, func(still bool) { h.asks(p, still) })
	door := newDoor(o.Binary)
	p.server = &http.Server{Handler: door.guard(p.api.handler()), ReadHeaderTimeout: 10 * time.Second}
	p.cmd = exec.Command(o.Binary)
	p.cmd.Dir = o.Directory
	p.address = door.address(listener.Addr())
	p.cmd.Env = environment(o, o.Directory, p.address)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.SysProcAttr = attributes()
	p.cmd.WaitDelay = outputWait
	p.report.pass(p.cmd, o.ReportVariable)

	go func() { _ = p.server.Serve(listener) }() // ends when the server is closed
	go p.report.follow()                         // ends with the process
	started := make(chan error)
	go p.supervise(h, started)
	return p, <-started
}

// supervise starts the child and waits for its end. It stays on one thread, because
// Linux ends the child with the thread that started it.
func (p *process) supervise(h hooks, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.exited)
	defer p.server.Close()
	err := p.cmd.Start()
	p.report.passed()
	if err != nil {
		p.report.end()
		started <- err
		return
	}
	h.observe(Event{Kind: Started, PID: p.cmd.Process.Pid})
	started <- nil
	_ = p.cmd.Wait()                            // the result is in ProcessState
	signalGroup(p.cmd.Process, syscall.SIGKILL) // end the children that it left running
	killStrays(p.address)                       // and those that left its group
	p.report.end()
	p.output.flush()
	h.ended(p)
	end := Event{Kind: Exited, PID: p.cmd.Process.Pid, Status: p.status().text}
	if p.killed.Load() {
		end.Kind = Killed
	}
	h.observe(end)
}

// terminate sends SIGTERM; kill sends SIGKILL and waits for the end.
func (p *process) terminate() {
	select {
	case <-p.exited:
	default:
		signalGroup(p.cmd.Process, syscall.SIGTERM)
	}
}

func (p *process) kill() {
	select {
	case <-p.exited:
	default:
		p.killed.Store(true)
		signalGroup(p.cmd.Process, syscall.SIGKILL)
		<-p.exited
	}
}

// startUp waits until the process requests its first event. If it does not, the
// process has ended when startUp returns.
func (p *process) startUp(limit time.Duration) {
	defer close(p.up)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.api.asked:
		return
	case e := <-p.api.initFailed:
		p.broken = e.of
	case <-timer.C:
		p.broken = func(inv *invocation) *FunctionError { return inv.initTimedOut(limit) }
	case <-p.exited:
		select {
		case e := <-p.api.initFailed:
			p.broken = e.of
		default:
			p.broken = func(inv *invocation) *FunctionError { return inv.exited(p) }
		}
	}
	p.kill()
}

// initFailure waits for the end of the start, and returns its error for the
// invocation.
func (p *process) initFailure(inv *invocation) *FunctionError {
	<-p.up
	if p.broken == nil {
		return nil
	}
	e := p.broken(inv)
	e.addExit(p)
	e.Starting = true
	return e
}

// awaitResponse waits for the response. If there is none, the process has ended when
// awaitResponse returns.
func (p *process) awaitResponse(inv *invocation, limit time.Duration, timeout <-chan time.Time) answer {
	var missing *FunctionError
	select {
	case a := <-inv.answered:
		return a
	case <-timeout:
		p.kill()
		missing = inv.timedOut(limit)
	case <-p.exited:
		missing = inv.exited(p)
	}
	select {
	case a := <-inv.answered: // a response sent just before the end
		return a
	default:
		return answer{err: missing}
	}
}

// awaitNext waits until the slot requests its next event, and reports whether it
// did. A process that does not do so in time is killed, unless it still runs
// another invocation.
func (p *process) awaitNext(timer *time.Timer, limit time.Duration) bool {
	for {
		select {
		case <-p.api.again:
			return true
		case <-p.exited:
			return false
		case <-timer.C:
			if !p.api.busy() {
				p.kill()
				return false
			}
			timer.Reset(limit)
		}
	}
}

// shared reports whether the process is alive and runs another invocation.
func (p *process) shared() bool {
	select {
	case <-p.exited:
		return false
	default:
		return p.api.busy()
	}
}

type status struct {
	text    string
	success bool
	code    int
	signal  string
}

// status returns how the process ended. Call it after the end.
func (p *process) status() status {
	state := p.cmd.ProcessState
	s := status{text: state.String(), success: state.Success(), code: state.ExitCode()}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		s.signal = w.Signal().String()
	}
	return s
}
