//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/sqsafe/sqsafe/handler"
)

// end does what the name says. Most do not return.
func end(ctx context.Context, name string) error {
	f, known := ends[name]
	if !known {
		return fmt.Errorf("no end is called %q", name)
	}
	return f(ctx)
}

var ends = map[string]func(context.Context) error{
	"":                  func(context.Context) error { return nil },
	"panic":             throw,
	"goroutine panic":   panicAside,
	"handler.Go panic":  panicInCrew,
	"exit 0":            func(context.Context) error { os.Exit(0); return nil },
	"exit 3":            func(context.Context) error { os.Exit(3); return nil },
	"out of memory":     exhaust,
	"stack overflow":    overflow,
	"concurrent writes": race,
	"ignore":            func(context.Context) error { select {} },
	"spin":              spin,
	"block in read":     read,
	"freeze":            func(context.Context) error { return signal(syscall.SIGSTOP) },
	"kill":              func(context.Context) error { return signal(syscall.SIGKILL) },
}

func throw(context.Context) error { panic("on purpose") }

func panicAside(ctx context.Context) error {
	go func() { _ = throw(ctx) }()
	select {}
}

func panicInCrew(ctx context.Context) error {
	handler.Go(ctx, throw)
	return nil
}

// hoard keeps what uses it from being optimized away.
var hoard []byte

// exhaust asks for memory under a limit of its own, far below that of the
// machine, and touches none of it.
func exhaust(context.Context) error {
	limit := syscall.Rlimit{Cur: 64 << 20, Max: 64 << 20}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return err
	}
	hoard = make([]byte, 1<<40)
	return fmt.Errorf("got %d bytes", len(hoard))
}

func overflow(context.Context) error {
	debug.SetMaxStack(1 << 20)
	return fmt.Errorf("got to %d", descend(0))
}

func descend(depth int) int {
	if depth < 0 {
		return depth
	}
	return 1 + descend(depth+1)
}

func race(context.Context) error {
	shared := map[int]int{}
	for range 4 {
		go func() {
			for i := 0; ; i++ {
				shared[i%64] = i
			}
		}()
	}
	select {}
}

func spin(context.Context) error {
	for {
		hoard = hoard[:0]
	}
}

// read stays in a system call that the runtime knows nothing about.
func read(context.Context) error {
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		return err
	}
	_, err := syscall.Read(pipe[0], make([]byte, 1))
	return err
}

// signal sends a signal to the process. It may take effect a moment later.
func signal(s syscall.Signal) error {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		return err
	}
	select {}
}
