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

// Each runs fn for each item of one job, such as the records of an S3 notification. Each
// item is a [Step] of its own: after fn has returned nil for it, no later attempt or
// replay runs it again. The items run one after another. All are tried, even if some
// fail.
//
// name returns the name of an item's step. It is any text but the empty one, the same at
// every attempt, and unique among all steps of the job. A second Each over the same items
// needs other names, such as "mail/" and the id. Do not use the index of an item, since
// an edited replay may change the order. Within fn, [Key] is the item's own key.
//
// The error is nil if all items are done. Otherwise its text lists the failed items. Its
// class depends on the errors of the items, classified by [handler.Classify]. While one
// of them is retryable or unclassified, the error unwraps only to such errors, and the
// job is retried within its budget. If all are permanent, the error is permanent. An item
// that failed permanently is tried again at each attempt, since it is not done.
//
// Three things end Each at once and are then its error: the end of ctx, a lost claim, and
// an item that is done but could not be recorded.
//
// The names must fit into the 48 KB that a job has for its steps. Each name takes its
// length, or 64 bytes if [Step] records its hash, and 8 bytes more. That is enough for
// 682 long names. If they do not fit, no item is run. Each item costs one write of the
// job's item in the store, which DynamoDB bills by the size of the whole item.
//
// The error is a [*StepError] if there is no room, if an item has no name or the name of
// an earlier one, and outside of a job that has a [Ledger].
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

// plan returns which of the steps are done. problem is why the others do not fit; empty
// if they do.
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

// logDone logs the number of skipped items in one line, since there may be hundreds.
func (s *steps) logDone(ctx context.Context, items int) {
	if items > 0 {
		s.options.log(ctx, slog.LevelInfo, "items done before",
			slog.String("messageId", s.claim.MessageID), keyField(s.key), slog.Int("items", items))
	}
}

// itemErrors are the failures of the items of [Each].
type itemErrors struct {
	items, failed int
	// texts are the texts of the first failures.
	texts []string
	// open are the retryable and unclassified failures, permanent the others.
	open, permanent []error
}

const (
	// listedItems is the number of failures that the text lists, listedRunes the length
	// of each: the text goes into the log, the ledger and the dead letter.
	listedItems = 10
	listedRunes = 300
)

// add records the failure of an item.
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

// err returns the error of all failed items; nil if none failed. It unwraps to the
// permanent failures only if there are no others.
func (e *itemErrors) err() error {
	switch {
	case e.failed == 0:
		return nil
	case len(e.open) > 0:
		return &itemsError{text: e.text(), decide: e.open}
	}
	return &itemsError{text: e.text(), decide: e.permanent}
}

// endedBy returns the error after Each was ended by err. The failures of items are only
// in its text.
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

// itemsError lists all failed items, and unwraps to the failures that decide the outcome
// of the job.
type itemsError struct {
	text   string
	decide []error
}

// Error names the items and why they failed.
func (e *itemsError) Error() string { return e.text }

// Unwrap returns the failures that decide the outcome.
func (e *itemsError) Unwrap() []error { return e.decide }
