package dlqui

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/replay"
	"github.com/sqsafe/sqsafe/internal/ledger"
)

// Queue is a dead-letter queue and the ledger of its jobs.
type Queue struct {
	*deadletters.Queue
	// Table is the ledger; nil without one, and NoTable says why there is none.
	Table   *ledger.Table
	NoTable string
}

// Deed is something that was changed, for the audit line. Nothing of a payload is in it.
type Deed struct {
	// Action is replay, archive, discard, restore, redrive, pause or resume.
	Action string
	Queue  *Queue
	// Letters is how many letters were sent, or are in the file.
	Letters int
	// Failed says that it was not done as a whole.
	Failed         bool
	Run, File, Why string
}

// Options configures [New]. Queues and Directory are required.
type Options struct {
	// Queues are the queues to show, each with a name of its own.
	Queues []*Queue
	// Directory is where journals and archives are written.
	Directory string
	// ReadOnly offers no changes. The guard refuses them.
	ReadOnly bool
	// CSRF is the value of the field that the guard wants in each form.
	CSRF string
	// Place is what the pages call the servers, such as AWS.
	Place string
	// Who goes into journals and archives.
	Who string
	// Growth is by how many letters a queue may grow during a replay; negative means any
	// number.
	Growth int
	// Read configures each look at a queue.
	Read deadletters.ReadOptions
	// Explain says what an error means to the user; nil shows its text.
	Explain func(q *Queue, err error) string
	// Audit is called with each change, possibly by several goroutines; nil means no calls.
	Audit func(Deed) error
	// Conditions returns what ends a replay of the queue; nil means nothing but the growth
	// of the queue.
	Conditions func(ctx context.Context, q *Queue) ([]replay.Condition, error)
	// Functions pauses and resumes functions; nil offers that not.
	Functions Functions
	// Logs returns the lines of the log of a letter's job; nil shows none.
	Logs func(ctx context.Context, q *Queue, l *deadletters.Letter) ([]LogLine, error)
	// Live is the stack that runs beside the pages; nil if there is none.
	Live Live
}

func (o *Options) check() error {
	if len(o.Queues) == 0 {
		return errors.New("there is no dead-letter queue to show")
	}
	if o.Directory == "" {
		return errors.New("the pages have no directory for journals and archives")
	}
	names := map[string]bool{}
	for _, q := range o.Queues {
		if names[q.Name] {
			return fmt.Errorf("two queues have the name %s: show them one after another", q.Name)
		}
		names[q.Name] = true
	}
	return nil
}

var errReadOnly = &problem{http.StatusForbidden, "the page was opened with --read-only"}

// errChanged says that a plan is out of date.
var errChanged = errors.New("nothing was sent: the queue or the ledger has changed since the plan was shown; " +
	"look at it again")

// explain says what an error means. What a replay itself says is clear enough.
func (o *Options) explain(q *Queue, err error) string {
	if stopped, ok := errors.AsType[*replay.StoppedError](err); ok {
		return stopped.Error()
	}
	if busy, ok := errors.AsType[*replay.BusyError](err); ok {
		return busy.Error()
	}
	if o.Explain == nil || errors.Is(err, errChanged) {
		return err.Error()
	}
	return o.Explain(q, err)
}
