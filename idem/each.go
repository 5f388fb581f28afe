package idem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
)

// Each runs fn for each item of one job, such as the records of an S3
// notification, as a [Step] of its own: an item whose fn has returned nil is not
// run again by a later attempt or a replay. The items run one after the other. All
// are tried, although some fail.
//
// name gives each item the name of its step. It is any text but the empty one, the
// same at every attempt, and unique among all steps of the job: a second Each over
// the same items needs other names, such as "mail/" with the id. The index of an
// item is a bad name, since an edited replay may change the order. Within fn [Key]
// is the item's own.
//
// The error is nil if all items are done. Otherwise its text names those that
// failed, and its class is that of its parts, by [handler.Classify]: while one
// part is retryable or unclassified, the error unwraps to such parts only, and the
// job comes back within its budget. When all that is left is permanent, so is the
// error. An item that failed permanently is tried again at each attempt of the
// job, since it is not done.
//
// Three things end Each at once, and are then its error: the end of ctx, a lost
// claim, and an item that is done but could not be recorded.
//
// The names have to fit the 48 KB that a job has for its steps: each takes its
// length, or 64 bytes where [Step] records its hash, and 8 more. That is room for
// 682 long names. If they do not fit, no item is run. Each item costs a write of
// the job's item in the store, which DynamoDB bills by the size of the whole item.
//
// The error is a [*StepError] if there is no room, if an item has no name or the
// name of an earlier one, and outside of a job that has a [Ledger].
func Each[T any](
	ctx context.Context, items []T, name func(item T) string, fn func(ctx context.Context, item T) error,
) error {
	if len(items) == 0 {
		return nil
	}
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = name(item)
	}
	s, ok := ctx.Value(stepsKey{}).(*steps)
	if !ok {
		return misused(names[0], noJob)
	}
	done, problem := s.plan(names)
	if problem != "" {
		return misused(names[0], problem)
	}
	s.logDone(ctx, len(done))
	failed := itemErrors{items: len(items)}
	taken := map[string]bool{}
	for i, item := range items {
		if taken[names[i]] {
			failed.add(ctx, names[i], misused(names[i], "an item before it has the same name; give each one of its own"))
			continue
		}
		if taken[names[i]] = true; done[names[i]] {
			continue
		}
		var own error
		err := Step(ctx, names[i], func(ctx context.Context) error { own = fn(ctx, item); return own })
		if err == nil {
			continue
		}
		if _, misuse := errors.AsType[*StepError](err); own == nil && !misuse {
			return failed.endedBy(err)
		}
		if failed.add(ctx, names[i], err); ctx.Err() != nil {
			return failed.endedBy(context.Cause(ctx))
		}
	}
	return failed.err()
}

// plan tells which of the steps are done by now. The problem is why the others
// cannot all be done; empty if they can.
func (s *steps) plan(names []string) (done map[string]bool, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done = map[string]bool{}
	counted := map[string]bool{}
	bytes := s.used()
	for _, name := range names {
		recorded := recordedName(name)
		switch at := s.byName[recorded]; {
		case counted[name]:
		case at == nil:
			bytes += stepBytes(recorded, 0)
		case at.state == stepRecorded:
			done[name] = true
		}
		counted[name] = true
	}
	if bytes > stepsBytes {
		return nil, fmt.Sprintf("the steps of the job and its %d items need %d bytes, and there is room for %d; "+
			"give the items shorter names, or send fewer in a message", len(names), bytes, stepsBytes)
	}
	return done, ""
}

// logDone tells how many items are passed over, in one line: there may be hundreds.
func (s *steps) logDone(ctx context.Context, items int) {
	if items > 0 {
		s.options.log(ctx, slog.LevelInfo, "items done before",
			slog.String("messageId", s.claim.MessageID), keyField(s.key), slog.Int("items", items))
	}
}

// itemErrors are the failures of the items of [Each].
type itemErrors struct {
	items, failed int
	// texts are those of the first failures.
	texts []string
	// open are the failures that may be gone at a later attempt, or that no rule
	// knows; permanent are the others.
	open, permanent []error
}

const (
	// listedItems is how many failures the text lists, and listedRunes how much it
	// has of each: the text goes into the log, the ledger and the dead letter.
	listedItems = 10
	listedRunes = 300
)

// add notes that an item has failed.
func (e *itemErrors) add(ctx context.Context, name string, err error) {
	e.failed++
	mark := ""
	if handler.Classify(ctx, err).Class == fault.ClassPermanent {
		e.permanent = append(e.permanent, err)
		mark = " (permanent)"
	} else {
		e.open = append(e.open, err)
	}
	if e.failed <= listedItems {
		e.texts = append(e.texts, fmt.Sprintf("%.80q%s: %.*v", name, mark, listedRunes, err))
	}
}

// err is the error of all items that have failed; nil if none has. It is of the
// permanent ones only where there are no others.
func (e *itemErrors) err() error {
	switch {
	case e.failed == 0:
		return nil
	case len(e.open) > 0:
		return &itemsError{text: e.text(), decide: e.open}
	}
	return &itemsError{text: e.text(), decide: e.permanent}
}

// endedBy is the error of a job that could not go on, for which its items count
// no more.
func (e *itemErrors) endedBy(err error) error {
	if e.failed == 0 {
		return err
	}
	return &itemsError{text: err.Error() + "; before that, " + e.text(), decide: []error{err}}
}

func (e *itemErrors) text() string {
	text := fmt.Sprintf("%d of %d items failed: %s", e.failed, e.items, strings.Join(e.texts, "; "))
	if more := e.failed - len(e.texts); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// itemsError tells of all items that have failed, and unwraps to the failures
// that decide what becomes of the job.
type itemsError struct {
	text   string
	decide []error
}

// Error names the items and why they failed.
func (e *itemsError) Error() string { return e.text }

// Unwrap gives the failures that decide.
func (e *itemsError) Unwrap() []error { return e.decide }
