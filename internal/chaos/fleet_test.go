//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"testing"
)

func TestTheFleetKnowsWhoLives(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	f := newFleet()
	f.add(process{pid, inFunction, queues[0]})
	if all := f.alive(inFunction); len(all) != 1 || all[0].pid != pid {
		t.Errorf("alive %v, want %d", all, pid)
	}
	if all := f.alive(inWorker); len(all) != 0 {
		t.Errorf("workers %v, want none", all)
	}
	if f.signal(pid+1, syscall.SIGKILL) {
		t.Error("a process that is none of the fleet is hit")
	}
	if !f.signal(pid, syscall.SIGSTOP) || len(f.alive(inFunction)) != 0 || !f.wasFrozen(pid) {
		t.Error("a process that is frozen is one to be hit")
	}
	f.thaw()
	if len(f.alive(inFunction)) != 1 {
		t.Error("a process that goes on is none to be hit")
	}
	if !f.signal(pid, syscall.SIGSTOP) || !f.end(pid) {
		t.Error("it cannot be hit")
	}
	if f.end(pid) {
		t.Error("it is told to end twice, which ends a worker at once")
	}
	f.thaw()
	_ = cmd.Wait() // it was killed
	if len(f.alive(inFunction)) != 0 || f.signal(pid, syscall.SIGKILL) {
		t.Error("a process that has ended is one to be hit")
	}
	if functions, workers := f.starts(); functions != 1 || workers != 0 {
		t.Errorf("%d functions and %d workers were started, want 1 and 0", functions, workers)
	}
}
