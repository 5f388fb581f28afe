package localaws

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

// Fault is a rule that makes calls fail or slows them down. A rule with none of
// Code, Status, AfterEffect, Reset and Entries only delays.
type Fault struct {
	// Operation is the operation's name, such as SendMessageBatch; empty means any.
	Operation string
	// Resource is the name of the queue or table; empty means any.
	Resource string
	// Times is the number of calls that the rule applies to; 0 means until it
	// is removed.
	Times int
	// Code is the code of the error; empty means InternalFailure.
	Code string
	// Status is the HTTP status of the error; 0 means 400 if there is a Code,
	// else 500.
	Status int
	// Message is the error's message; empty means one that names the fault.
	Message string
	// Delay is how long the call waits before anything else; 0 means no wait.
	Delay time.Duration
	// AfterEffect executes the call and then fails it, so that the client does
	// not learn that it succeeded. A call that fails by itself returns its own
	// error.
	AfterEffect bool
	// Reset breaks the connection instead of answering.
	Reset bool
	// Entries are the ids of the entries of an SQS batch that fail, while the
	// call and the other entries succeed; empty means that the whole call
	// fails.
	Entries []string
}

var errReset = errors.New("localaws: connection reset by a fault")

func lost(err error) bool { return errors.Is(err, errReset) }

func (f *Fault) fails() bool { return f.Code != "" || f.Status != 0 || f.AfterEffect || f.Reset }

func (f *Fault) err() error {
	if f.Reset {
		return errReset
	}
	return f.refusal()
}

func (f *Fault) refusal() *protocol.Error {
	e := &protocol.Error{Code: f.Code, Status: f.Status, Message: f.Message}
	if e.Code == "" {
		e.Code = "InternalFailure"
		if e.Status == 0 {
			e.Status = http.StatusInternalServerError
		}
	}
	if e.Message == "" {
		e.Message = "injected fault"
	}
	return e
}

// faults are the active rules, the oldest first.
type faults struct {
	mu    sync.Mutex
	rules []*rule
}

type rule struct {
	Fault
	left int
}

// Inject adds a rule. If several match a call, the oldest applies. The returned
// function removes the rule.
func (s *Server) Inject(f Fault) (remove func()) {
	r := &rule{f, f.Times}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.rules = append(s.faults.rules, r)
	return func() {
		s.faults.mu.Lock()
		defer s.faults.mu.Unlock()
		s.faults.drop(r)
	}
}

// take returns the rule for a call and counts the call.
func (f *faults) take(r *protocol.Request) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.rules) == 0 {
		return Fault{}, false
	}
	names := resources(r.Body)
	for _, rule := range f.rules {
		if (rule.Operation != "" && rule.Operation != r.Operation) ||
			(rule.Resource != "" && !names[rule.Resource]) {
			continue
		}
		if rule.left--; rule.left == 0 {
			f.drop(rule)
		}
		return rule.Fault, true
	}
	return Fault{}, false
}

func (f *faults) drop(gone *rule) {
	for i, r := range f.rules {
		if r == gone {
			f.rules = append(f.rules[:i], f.rules[i+1:]...)
			return
		}
	}
}

// resources returns the queues and tables that a request names.
func resources(body []byte) map[string]bool {
	var in struct {
		QueueURL      string `json:"QueueUrl"`
		QueueName     string
		TableName     string
		RequestItems  map[string]json.RawMessage
		TransactItems []map[string]struct{ TableName string }
	}
	// The operation refuses a request of another shape.
	_ = json.Unmarshal(body, &in)
	names := map[string]bool{
		in.QueueURL[strings.LastIndex(in.QueueURL, "/")+1:]: true,
		in.QueueName: true,
		in.TableName: true,
	}
	for table := range in.RequestItems {
		names[table] = true
	}
	for _, item := range in.TransactItems {
		for _, action := range item {
			names[action.TableName] = true
		}
	}
	return names
}

// sleep waits by the server's clock.
func (s *Server) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	over := make(chan struct{})
	stop := s.clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
