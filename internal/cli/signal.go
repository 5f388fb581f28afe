package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// UntilSignal gives a context that ends with the first SIGINT, SIGTERM or
// SIGHUP; the second ends the process. It is for the mains of commands.
func UntilSignal() context.Context {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(ExitInterrupted)
	}()
	return ctx
}
