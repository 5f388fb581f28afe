package queue

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"
)

// ErrDenied says that the role may not change the visibility timeouts of the queue. It
// wraps the answer of SQS. After two such answers in a row the Client does not call the
// queue for a minute and returns this error for every change. After one answer it still
// calls: the role may just be changing, and a heartbeat should not pause for a minute
// because of that. Answers to one ChangeVisibility, or to several at the same time, count
// as one.
var ErrDenied = errors.New("the role may not change visibility timeouts: " + grant)

const (
	grant      = "grant sqs:ChangeMessageVisibility on the queue"
	denialTime = time.Minute
	// denialLimit is the number of denials in a row after which the queue is not called.
	denialLimit = 2
)

// denials has the queues that denied a visibility change.
type denials struct {
	logger *slog.Logger

	mu sync.Mutex
	// begun counts the rounds, which are calls of ChangeVisibility.
	begun int
	byURL map[string]*denial
}

type denial struct {
	err   error
	inRow int
	// begun is the number of rounds that had begun when a denial was last counted.
	// Another denial in one of these rounds does not count.
	begun int
	until time.Time
}

// begin returns the number of a new round.
func (d *denials) begin() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun++
	return d.begun
}

// current returns the denial that still applies to the queue; nil if there is none.
func (d *denials) current(url string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.byURL[url]; last != nil && time.Now().Before(last.until) {
		return last.err
	}
	return nil
}

// note returns the error to answer for a failed call of the round. The first denial of a
// queue is logged; later ones have no new information.
func (d *denials) note(url string, round int, err error) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || !strings.HasPrefix(api.ErrorCode(), "AccessDenied") {
		return err
	}
	err = fmt.Errorf("%w: %w", ErrDenied, err)
	if d.count(url, round, err) {
		d.logger.Warn("visibility timeouts may not be changed", "queue", url, "error", err,
			"remedy", grant+"; until then failed messages come back after the queue's visibility timeout")
	}
	return err
}

// count counts a denial and reports whether it is the first of the queue.
func (d *denials) count(url string, round int, err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, known := d.byURL[url]
	if !known {
		last = &denial{}
		if d.byURL == nil {
			d.byURL = map[string]*denial{}
		}
		d.byURL[url] = last
	}
	last.err = err
	if round > last.begun {
		last.inRow++
		last.begun = d.begun
	}
	if last.inRow >= denialLimit {
		last.until = time.Now().Add(denialTime)
	}
	return !known
}

// allowed records that the queue accepted a call. The entry stays, so that a later denial
// is not logged again.
func (d *denials) allowed(url string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.byURL[url]; last != nil {
		last.inRow = 0
	}
}
