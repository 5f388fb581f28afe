package eventsource

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

// Limits of a mapping that AWS sets.
const (
	maxReceive   = 10               // messages of one receive, and of a FIFO batch
	maxBatchSize = 10_000           // messages of a standard batch
	maxWindow    = 5 * time.Minute  // batching window
	maxEvent     = 6 << 20          // bytes of an event
	longPoll     = 20 * time.Second // longest wait of a receive
)

// Mapping connects a queue with a function.
type Mapping struct {
	// QueueURL is where the queue is called; required.
	QueueURL string
	// QueueARN names the queue in events; required. A name that ends in .fifo
	// makes the mapping a FIFO one.
	QueueARN string
	// Region is the region in events; empty means the one of QueueARN.
	Region string
	// BatchSize is the most messages of one invocation: 1 to 10, or to 10,000
	// for a standard queue with a Window of at least 1 s; 0 means 10.
	BatchSize int
	// Window is how long a batch may be gathered, counted from its first
	// message: 0 to 5 min in whole seconds; 0 means that a batch is what one
	// receive brings. FIFO queues have none.
	Window time.Duration
	// ReportBatchItemFailures makes the function's answer name the messages
	// that failed; without it the answer is not read.
	ReportBatchItemFailures bool
	// Filters are patterns of Lambda's filter criteria, at most five, one of
	// which a message's body must match; others are deleted. None lets all pass.
	Filters []string
	// Concurrency is how many batches are at work at a time; 0 means 2, the
	// least that AWS can be held to.
	Concurrency int
}

// Validate tells what AWS would not accept in the mapping.
func (m Mapping) Validate() error {
	m = m.withDefaults()
	switch {
	case m.QueueURL == "":
		return errors.New("event source mapping without a queue: set QueueURL")
	case m.QueueARN == "":
		return fmt.Errorf("event source mapping of %s has no QueueARN", m.QueueURL)
	case m.Concurrency < 1:
		return m.refuse("concurrency %d: use at least 1, or 0 for the default", m.Concurrency)
	case m.BatchSize < 1 || m.BatchSize > maxBatchSize:
		return m.refuse("batch size %d: use 1 to %d", m.BatchSize, maxBatchSize)
	case m.Window < 0 || m.Window > maxWindow || m.Window%time.Second != 0:
		return m.refuse("batching window %s: use whole seconds from 0 s to %s", m.Window, maxWindow)
	case m.fifo() && m.BatchSize > maxReceive:
		return m.refuse("batch size %d: a FIFO queue allows at most %d", m.BatchSize, maxReceive)
	case m.fifo() && m.Window > 0:
		return m.refuse("batching window %s: a FIFO queue allows none", m.Window)
	case m.BatchSize > maxReceive && m.Window == 0:
		return m.refuse("batch size %d: over %d it needs a batching window of at least 1 s", m.BatchSize, maxReceive)
	}
	_, err := m.criteria()
	return err
}

// criteria is nil without filters.
func (m Mapping) criteria() (*filter.Criteria, error) {
	if len(m.Filters) == 0 {
		return nil, nil
	}
	criteria, err := filter.Parse(m.Filters...)
	if err != nil {
		return nil, m.refuse("%w", err)
	}
	return criteria, nil
}

func (m Mapping) refuse(form string, args ...any) error {
	return fmt.Errorf("event source mapping of %s: "+form, append([]any{m.QueueARN}, args...)...)
}

func (m Mapping) withDefaults() Mapping {
	m.BatchSize = cmp.Or(m.BatchSize, 10)
	m.Concurrency = cmp.Or(m.Concurrency, 2)
	if parts := strings.Split(m.QueueARN, ":"); m.Region == "" && len(parts) > 3 {
		m.Region = parts[3]
	}
	return m
}

func (m Mapping) fifo() bool { return strings.HasSuffix(m.QueueARN, ".fifo") }
