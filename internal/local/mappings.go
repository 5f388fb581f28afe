package local

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// States of an event source mapping, as Lambda names them.
const (
	stateEnabled   = "Enabled"
	stateDisabling = "Disabling" // batches that run go on to their end
	stateDisabled  = "Disabled"
	stateEnabling  = "Enabling"
)

// sourceMapping feeds a function from a queue while it is enabled. It is safe for
// concurrent use.
type sourceMapping struct {
	id, function, queue string // the UUID, and the ARNs
	event               stack.SQSEvent
	// poll receives and invokes until its context ends and the batches have ended.
	poll func(context.Context) error
	// told is called after each change of what is wanted.
	told func(enabled bool)

	changed chan struct{} // something else is wanted than before

	mu       sync.Mutex
	enabled  bool // as it is wanted
	stop     context.CancelFunc
	modified time.Time
}

func newSourceMapping(functionARN, queueARN string, e stack.SQSEvent) *sourceMapping {
	sum := sha256.Sum256([]byte(functionARN + "\n" + queueARN + "\n" + e.Name))
	return &sourceMapping{
		id:       fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]),
		function: functionARN, queue: queueARN, event: e, changed: make(chan struct{}, 1), enabled: e.Enabled,
		modified: time.Now(),
	}
}

// work polls while the mapping is enabled, until ctx ends.
func (m *sourceMapping) work(ctx context.Context) {
	for ctx.Err() == nil {
		polling, cancel := context.WithCancel(ctx)
		if !m.begin(cancel) {
			cancel()
			select {
			case <-m.changed:
			case <-ctx.Done():
			}
			continue
		}
		m.end(m.poll(polling))
		cancel()
	}
}

// begin reports whether the mapping is to poll, which cancel ends.
func (m *sourceMapping) begin(cancel context.CancelFunc) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.enabled {
		m.stop = cancel
	}
	return m.enabled
}

// end notes that polling has ended. A mapping that cannot poll is not tried again.
func (m *sourceMapping) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop, m.enabled = nil, m.enabled && err == nil
}

// set enables or disables the mapping. It does not wait.
func (m *sourceMapping) set(enabled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.enabled == enabled {
		return
	}
	m.enabled, m.modified = enabled, time.Now()
	if !enabled && m.stop != nil {
		m.stop()
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
	m.told(enabled)
}

// state returns the present state.
func (m *sourceMapping) state() (state string, modified time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	polls := m.stop != nil
	switch {
	case m.enabled && polls:
		state = stateEnabled
	case m.enabled:
		state = stateEnabling
	case polls:
		state = stateDisabling
	}
	return cmp.Or(state, stateDisabled), m.modified
}
