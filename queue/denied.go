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

// ErrDenied says that the role may not change the visibility timeouts of the
// queue. It wraps the answer of SQS. After two such answers in a row the queue is
// not asked for a minute, and every change of it has the same error. A single one
// may be a role that is just being changed, and a heartbeat should not miss a
// minute for that. So answers of one ChangeVisibility, or of several at the same
// time, count as one.
var ErrDenied = errors.New("the role may not change visibility timeouts: " + grant)

const (
	grant      = "grant sqs:ChangeMessageVisibility on the queue"
	denialTime = time.Minute
	// enough is how many denials in a row are believed.
	enough = 2
)

// denials are the queues whose visibility timeouts may not be changed.
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
	// begun is how many rounds had begun when a denial was counted last. That of
	// one of them tells nothing new.
	begun int
	until time.Time
}

// begin gives the number of a new round.
func (d *denials) begin() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun++
	return d.begun
}

// standing is the denial that still counts for the queue; nil if none does.
func (d *denials) standing(url string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.byURL[url]; last != nil && time.Now().Before(last.until) {
		return last.err
	}
	return nil
}

// note gives the error of a call of the round as it is to be answered. The first
// denial of a queue is logged: no later one has anything to add.
func (d *denials) note(url string, round int, err error) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || !strings.HasPrefix(api.ErrorCode(), "AccessDenied") {
		return err
	}
	err = fmt.Errorf("%w: %w", ErrDenied, err)
	if d.keep(url, round, err) {
		d.logger.Warn("visibility timeouts may not be changed", "queue", url, "error", err,
			"remedy", grant+"; until then failed messages come back after the queue's visibility timeout")
	}
	return err
}

// keep tells whether it is the first denial of the queue.
func (d *denials) keep(url string, round int, err error) bool {
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
	if last.inRow >= enough {
		last.until = time.Now().Add(denialTime)
	}
	return !known
}

// allowed notes that the queue took a call. It stays known for what was logged.
func (d *denials) allowed(url string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.byURL[url]; last != nil {
		last.inRow = 0
	}
}
