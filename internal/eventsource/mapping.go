package eventsource

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/eventsource/filter"
)

// Limits of a mapping (AWS limits).
const (
	maxReceive   = 10               // messages per receive, and per FIFO batch
	maxBatchSize = 10_000           // messages per standard batch
	maxWindow    = 5 * time.Minute  // longest batching window
	maxEvent     = 6 << 20          // bytes per event
	longPoll     = 20 * time.Second // longest wait time of a receive

	maxVisibility = 12 * time.Hour // longest visibility timeout
)

// Mapping connects a queue to a function.
type Mapping struct {
	// QueueURL is the URL of the queue; required.
	QueueURL string
	// QueueARN is the ARN of the queue, as used in events; required. If the
	// name ends in .fifo, it is a FIFO queue.
	QueueARN string
	// Region is the region in events; empty means that of QueueARN.
	Region string
	// BatchSize is the maximum number of messages per invocation: 1 to 10, or
	// to 10,000 for a standard queue with a Window of at least 1 s; 0 means 10.
	BatchSize int
	// Window is the batching window: how long messages are collected for a
	// batch, counted from its first message. It is 0 to 5 min in whole seconds;
	// 0 means that a batch is the result of one receive. FIFO queues must not
	// have one.
	Window time.Duration
	// Visibility is for how long received messages are hidden, in whole seconds; 0
	// means the visibility timeout of the queue.
	Visibility time.Duration
	// ReportBatchItemFailures says that the function's response names the
	// messages that failed; otherwise the response is not read.
	ReportBatchItemFailures bool
	// Filters are patterns of Lambda's filter criteria, at most five. A message
	// whose body matches none of them is deleted. Without filters all messages
	// pass.
	Filters []string
	// Concurrency is how many batches are processed at the same time; 0 means
	// 2, the lowest maximum concurrency that AWS accepts.
	Concurrency int
}

// Validate returns an error if AWS would refuse the mapping.
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
	case m.Visibility < 0 || m.Visibility > maxVisibility || m.Visibility%time.Second != 0:
		return m.refuse("visibility timeout %s: use whole seconds from 0 s to %s", m.Visibility, maxVisibility)
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

// criteria returns nil if there are no filters.
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
