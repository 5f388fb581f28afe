package deadletters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/internal/sqscall"
	"github.com/sqsafe/sqsafe/queue"
)

// maxHeld is how long SQS hides a message from its receive on, however often its
// visibility timeout is extended (SQS quotas).
const maxHeld = 12 * time.Hour

// Hold is the messages that a [Queue.Read] received, which SQS hides from others until
// their visibility timeout ends. It is safe for concurrent use.
type Hold struct {
	queue   *Queue
	timeout time.Duration

	mu   sync.Mutex
	held map[string]heldMessage // by message id
}

type heldMessage struct {
	handle   string
	received time.Time
	until    time.Time
}

// add notes a message, and reports whether it is new. A message that was received again,
// since its timeout had ended, has a new handle.
func (h *Hold) add(m *Message, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, again := h.held[m.ID]
	h.held[m.ID] = heldMessage{handle: m.handle, received: now, until: now.Add(h.timeout)}
	return !again
}

// Len returns the number of messages that are held.
func (h *Hold) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.held)
}

// Has reports whether the message is held.
func (h *Hold) Has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.held[id]
	return ok
}

// Timeout returns how long SQS hides the messages after a receive, also when this process
// dies.
func (h *Hold) Timeout() time.Duration { return h.timeout }

// ids returns the ids of the held messages for which match returns true, sorted.
func (h *Hold) ids(match func(string, heldMessage) bool) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for id, m := range h.held {
		if match(id, m) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Release makes all held messages visible again, and holds none afterwards. What is
// already visible, or gone, is no error. The error is that of a call that failed as a
// whole: its messages are visible after the timeout.
func (h *Hold) Release(ctx context.Context) error {
	return h.release(ctx, h.ids(func(string, heldMessage) bool { return true }))
}

// ReleaseOthers makes the held messages visible again for which keep returns false.
func (h *Hold) ReleaseOthers(ctx context.Context, keep func(id string) bool) error {
	return h.release(ctx, h.ids(func(id string, _ heldMessage) bool { return !keep(id) }))
}

func (h *Hold) release(ctx context.Context, ids []string) error {
	errs := h.show(ctx, ids, 0)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		delete(h.held, id)
	}
	return callError(errs)
}

// Extend hides the messages for another timeout whose present one has less than half of
// it left. A message can be hidden for 12 hours in all. The error is that of a call that
// failed as a whole.
func (h *Hold) Extend(ctx context.Context) error {
	now := time.Now()
	ids := h.ids(func(_ string, m heldMessage) bool {
		return m.until.Sub(now) < h.timeout/2 && now.Add(h.timeout).Before(m.received.Add(maxHeld))
	})
	errs := h.show(ctx, ids, h.timeout)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, id := range ids {
		if m, ok := h.held[id]; ok && errs[i] == nil {
			m.until = now.Add(h.timeout)
			h.held[id] = m
		}
	}
	return callError(errs)
}

// show sets when messages are visible again.
func (h *Hold) show(ctx context.Context, ids []string, after time.Duration) []error {
	return h.each(ctx, ids, func(ctx context.Context, pack []string, handles []string) ([]error, error) {
		entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(pack))
		for i := range pack {
			entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &handles[i],
				VisibilityTimeout: int32(after / time.Second),
			}
		}
		out, err := h.queue.client.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{
			QueueUrl: &h.queue.URL, Entries: entries,
		})
		if err != nil {
			return nil, err
		}
		return failures(len(pack), out.Failed), nil
	})
}

// Delete deletes held messages, and returns an error for each that SQS did not confirm:
// such a message may be deleted or not, and is still held.
func (h *Hold) Delete(ctx context.Context, ids []string) []error {
	errs := h.each(ctx, ids, func(ctx context.Context, pack []string, handles []string) ([]error, error) {
		entries := make([]types.DeleteMessageBatchRequestEntry, len(pack))
		for i := range pack {
			entries[i] = types.DeleteMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &handles[i],
			}
		}
		out, err := h.queue.client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{
			QueueUrl: &h.queue.URL, Entries: entries,
		})
		if err != nil {
			return nil, err
		}
		errs := failures(len(pack), out.Failed)
		confirmed := map[int]bool{}
		for _, e := range out.Successful {
			if i, ok := sqscall.Position(e.Id, len(pack)); ok {
				confirmed[i] = true
			}
		}
		for i := range errs {
			if errs[i] == nil && !confirmed[i] {
				errs[i] = errUnanswered
			}
		}
		return errs, nil
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, id := range ids {
		if errs[i] == nil {
			delete(h.held, id)
		}
	}
	return errs
}

var (
	errUnanswered = fmt.Errorf("the answer of SQS does not mention the message")
	errNotHeld    = fmt.Errorf("the message is not held")
)

// failures returns the error of each of n entries.
func failures(n int, failed []types.BatchResultErrorEntry) []error {
	errs := make([]error, n)
	for _, e := range failed {
		if i, ok := sqscall.Position(e.Id, n); ok {
			errs[i] = queue.NewEntryError(e)
		}
	}
	return errs
}

// parallelCalls is how many calls run at a time.
const parallelCalls = 4

// each makes a call for each pack of ten messages, some at a time, and returns an error
// for each message.
func (h *Hold) each(
	ctx context.Context, ids []string, call func(ctx context.Context, pack, handles []string) ([]error, error),
) []error {
	errs := make([]error, len(ids))
	var calls sync.WaitGroup
	slots := make(chan struct{}, parallelCalls)
	for start := 0; start < len(ids); start += sqscall.MaxEntries {
		pack := ids[start:min(start+sqscall.MaxEntries, len(ids))]
		slots <- struct{}{}
		calls.Go(func() {
			defer func() { <-slots }()
			copy(errs[start:], sqscall.Batch(ctx, pack, func(pack []string) ([]error, error) {
				handles, err := h.handles(pack)
				if err != nil {
					return nil, err
				}
				return call(ctx, pack, handles)
			}))
		})
	}
	calls.Wait()
	return errs
}

func (h *Hold) handles(ids []string) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	handles := make([]string, len(ids))
	for i, id := range ids {
		m, ok := h.held[id]
		if !ok {
			return nil, fmt.Errorf("message %s: %w", id, errNotHeld)
		}
		handles[i] = m.handle
	}
	return handles, nil
}

// callError returns the first error that is not about a single entry.
func callError(errs []error) error {
	for _, err := range errs {
		if _, entry := err.(*queue.EntryError); err != nil && !entry {
			return err
		}
	}
	return nil
}

// Held returns the ids of the held messages, sorted.
func (h *Hold) Held() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.SortedFunc(maps.Keys(h.held), strings.Compare)
}
