package worker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/queue"
)

const (
	// beatsPerTimeout is the number of heartbeats in a visibility timeout. One or two may
	// fail.
	beatsPerTimeout = 3
	// beatTimeout limits a heartbeat, since settling waits for the one in flight.
	beatTimeout = 5 * time.Second
)

// heartbeat extends the visibility timeout of messages in process. It is also the
// processor's queue: the heartbeat of a message ends before the processor changes or
// deletes the message, so that no heartbeat comes after.
type heartbeat struct {
	queue  handler.Queue
	logger *slog.Logger

	mu   sync.Mutex
	held map[string]held // by receipt handle
	// received counts the messages that were held.
	received int
	// beating is closed when the last heartbeat is answered; nil before the first.
	beating chan struct{}
}

type held struct {
	message  *handler.Message
	received time.Time
	// number is its place in the order of receipt.
	number int
}

func newHeartbeat(source handler.Queue, logger *slog.Logger) *heartbeat {
	return &heartbeat{queue: source, logger: logger, held: map[string]held{}}
}

// ChangeVisibility ends the heartbeat of the messages and applies the changes.
func (h *heartbeat) ChangeVisibility(ctx context.Context, changes []handler.VisibilityChange) {
	receipts := make([]string, len(changes))
	for i, c := range changes {
		receipts[i] = c.Message.ReceiptHandle
	}
	h.release(receipts)
	h.queue.ChangeVisibility(ctx, changes)
}

// Delete ends the heartbeat of the messages and deletes them.
func (h *heartbeat) Delete(ctx context.Context, deletions []handler.Deletion) {
	receipts := make([]string, len(deletions))
	for i, d := range deletions {
		receipts[i] = d.Message.ReceiptHandle
	}
	h.release(receipts)
	h.queue.Delete(ctx, deletions)
}

func (h *heartbeat) hold(m *handler.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.received++
	h.held[m.ReceiptHandle] = held{message: m, received: time.Now(), number: h.received}
}

// release ends the heartbeat of the messages, and waits for one in flight.
func (h *heartbeat) release(receipts []string) {
	if len(receipts) == 0 {
		return
	}
	h.mu.Lock()
	for _, receipt := range receipts {
		delete(h.held, receipt)
	}
	beating := h.beating
	h.mu.Unlock()
	if beating != nil {
		<-beating
	}
}

// run sends heartbeats until ctx ends. Each hides the held messages for visibility.
func (h *heartbeat) run(ctx context.Context, visibility time.Duration) {
	ticker := time.NewTicker(visibility / beatsPerTimeout)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			h.beat(ctx, visibility)
		case <-ctx.Done():
			return
		}
	}
}

func (h *heartbeat) beat(ctx context.Context, visibility time.Duration) {
	changes, answered := h.begin(visibility)
	defer answered()
	if len(changes) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	h.queue.ChangeVisibility(ctx, changes)
	for i := range changes {
		if err := changes[i].Answer(); err != nil {
			h.failed(changes[i].Message, err)
		}
	}
}

// begin returns the changes of a heartbeat, those of the oldest messages first, and a
// function to call when they are answered.
func (h *heartbeat) begin(visibility time.Duration) (changes []handler.VisibilityChange, answered func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldestFirst := func(a, b held) int { return cmp.Compare(a.number, b.number) }
	for _, held := range slices.SortedFunc(maps.Values(h.held), oldestFirst) {
		timeout := backoff.Clamp(visibility, time.Since(held.received))
		if timeout <= 0 {
			delete(h.held, held.message.ReceiptHandle)
			h.logger.Warn("the job has run for 12 hours, and SQS hides its message no longer",
				"messageId", held.message.MessageId)
			continue
		}
		changes = append(changes, handler.VisibilityChange{Message: held.message, Timeout: timeout})
	}
	done := make(chan struct{})
	h.beating = done
	return changes, func() { close(done) }
}

// failed logs a failed heartbeat. It stops the heartbeat of a message if SQS says that
// the receipt handle is invalid. Other errors may be gone at the next heartbeat.
func (h *heartbeat) failed(m *handler.Message, err error) {
	h.logger.Warn("visibility timeout not extended", "messageId", m.MessageId, "error", err.Error())
	if refused, ok := errors.AsType[*queue.EntryError](err); ok && refused.SenderFault {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.held, m.ReceiptHandle)
	}
}
