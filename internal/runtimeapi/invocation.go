package runtimeapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// invocation is one event and its state in a process.
type invocation struct {
	id      string
	payload []byte
	lineage string // of its trace; empty for none
	// answered receives the runtime's response or error, at most once.
	answered chan answer
	// result receives the result for the caller, exactly once.
	result chan answer
}

type answer struct {
	payload []byte
	err     error
}

func newInvocation(ctx context.Context, payload []byte) *invocation {
	lineage, _ := ctx.Value(lineageKey{}).(string)
	return &invocation{
		id:       newID(),
		payload:  payload,
		lineage:  lineage,
		answered: make(chan answer, 1),
		result:   make(chan answer, 1),
	}
}

func (i *invocation) setHeaders(h http.Header, arn string, deadline time.Time) {
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", i.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", arn)
	h.Set("Lambda-Runtime-Trace-Id", newTrace(i.lineage))
}

func (i *invocation) timedOut(after time.Duration) *FunctionError {
	message := fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", i.id, after.Seconds())
	return &FunctionError{Type: TypeTimeout, Message: message, RequestID: i.id}
}

func (i *invocation) initTimedOut(after time.Duration) *FunctionError {
	const form = "RequestId: %s Error: Init timed out after %.2f seconds: the process did not ask for its first event"
	return &FunctionError{Type: TypeTimeout, Message: fmt.Sprintf(form, i.id, after.Seconds()), RequestID: i.id}
}

func (i *invocation) exited(p *process) *FunctionError {
	message := "Runtime exited without providing a reason"
	if s := p.status(); !s.success {
		message = "Runtime exited with error: " + s.text
	}
	e := &FunctionError{Type: TypeExit, RequestID: i.id}
	e.Message = fmt.Sprintf("RequestId: %s Error: %s", i.id, message)
	return e
}

func (i *invocation) notStarted(cause error) *FunctionError {
	message := fmt.Sprintf("RequestId: %s Error: cannot start the function: %v", i.id, cause)
	return &FunctionError{Type: TypeEntrypoint, Message: message, RequestID: i.id, Starting: true}
}

// newID returns a random UUID, the format of Lambda's request ids.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newTrace returns a trace id in X-Ray's format that is not sampled.
func newTrace(lineage string) string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	unique, parent := hex.EncodeToString(b[:12]), hex.EncodeToString(b[12:])
	trace := fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0", time.Now().Unix(), unique, parent)
	if lineage != "" {
		trace += ";Lineage=" + lineage
	}
	return trace
}

type lineageKey struct{}

// WithLineage returns a context for Invoke, whose invocation has this lineage in its trace
// id. The SDKs of AWS pass it on with what the function sends.
func WithLineage(ctx context.Context, lineage string) context.Context {
	return context.WithValue(ctx, lineageKey{}, lineage)
}
