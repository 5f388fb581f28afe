package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen takes the address for SQS and DynamoDB.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("address %s is in use; end the program that has it or choose another with --addr", address)
	default:
		return nil, fmt.Errorf("address %q: %w; give --addr as HOST:PORT", address, err)
	}
}

// reachable is the address under which programs on this machine reach l. A
// listener on all interfaces has none of its own.
func reachable(l net.Listener) string {
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok || !address.IP.IsUnspecified() {
		return l.Addr().String()
	}
	return fmt.Sprintf("127.0.0.1:%d", address.Port)
}

// exposed warns of an address that other machines may reach.
func exposed(l net.Listener) []string {
	if l == nil {
		return nil
	}
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok || address.IP.IsLoopback() {
		return nil
	}
	return []string{fmt.Sprintf("warning: %s is not a loopback address: whoever reaches it can read and change all "+
		"queues and tables; use 127.0.0.1, unless a firewall keeps others out", address)}
}
