package fault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"syscall"
)

var networkRules = Table{
	{ID: "net.reset", Reason: ReasonConnection, Class: ClassRetryable,
		Match: isAny(syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, syscall.ENETRESET, syscall.ENOTCONN)},
	{ID: "net.refused", Reason: ReasonConnection, Class: ClassRetryable, Match: isAny(syscall.ECONNREFUSED)},
	{ID: "net.socket", Reason: ReasonConnection, Class: ClassRetryable,
		Match: func(_ context.Context, err error) bool { return socketMissing(err) }},
	{ID: "net.unreachable", Reason: ReasonConnection, Class: ClassRetryable,
		Match: isAny(syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN)},
	{ID: "net.exhausted", Reason: ReasonConnection, Class: ClassRetryable,
		Match: isAny(syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS)},
	{ID: "net.closed", Reason: ReasonConnection, Class: ClassRetryable, Match: isAny(net.ErrClosed)},
	{ID: "net.http", Reason: ReasonConnection, Class: ClassRetryable, Match: httpConnectionBroke},
	{ID: "net.eof", Reason: ReasonConnection, Class: ClassRetryable, Match: cutShort},
	{ID: "net.timeout", Reason: ReasonTimeout, Class: ClassRetryable, Match: timedOut},
	{ID: "dns.not_found", Reason: ReasonEnvironment, Class: ClassRetryable,
		Match: dns(func(e *net.DNSError) bool { return e.IsNotFound })},
	{ID: "dns.temporary", Reason: ReasonUnavailable, Class: ClassRetryable,
		Match: dns(func(e *net.DNSError) bool { return e.IsTemporary })},
}

// socketMissing matches a dial to a Unix socket that does not exist: its server
// is down. Otherwise the error would be taken for a file that the job needs and
// lacks.
func socketMissing(err error) bool {
	return has(err, func(e *net.OpError) bool { return errors.Is(e, fs.ErrNotExist) })
}

// cutShort matches a response that ended early. A bare io.EOF can be the
// ordinary end of any stream; from an HTTP client it means that no response
// came.
func cutShort(_ context.Context, err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) ||
		has(err, func(e *url.Error) bool { return errors.Is(e, io.EOF) })
}

// timedOut looks at every error of the chain: a net.Error whose Timeout is
// false may wrap one whose Timeout is true.
func timedOut(ctx context.Context, err error) bool {
	return has(err, func(e interface{ Timeout() bool }) bool { return e.Timeout() }) ||
		isAny(context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ETIMEDOUT)(ctx, err)
}

func dns(accept func(*net.DNSError) bool) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool { return has(err, accept) }
}
