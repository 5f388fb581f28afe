package dlqui

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
)

// startMove moves the letters of a selection into a file, to keep or to discard them.
func (p *Pages) startMove(ctx context.Context, sel *selection, kind, why string) (*run, error) {
	stamp := newRunID()
	r := &run{ID: stamp, Kind: kind, Why: why, Shelf: sel.shelf}
	q := *sel.shelf.Queue.Queue
	o := &archive.Operation{
		Queue: &q, Filter: sel.chosen(), Read: sel.shelf.read, Who: p.options.Who, Why: why,
		Path:    filepath.Join(p.options.Directory, kind+"-"+q.Name+"-"+stamp+".jsonl.gz"),
		Observe: func(done int) { r.update(func(s *status) { s.Deleted = done }) },
	}
	return r, p.runs.start(ctx, r, func(ctx context.Context) { p.move(ctx, r, o, len(sel.ids)) })
}

func (p *Pages) move(ctx context.Context, r *run, o *archive.Operation, total int) {
	r.update(func(s *status) { s.Phase, s.File, s.Total = phaseMoving, o.Path, total })
	result, err := p.archive(ctx, o)
	r.update(func(s *status) { s.Archived, s.Deleted = result.Archived, result.Deleted })
	err = errors.Join(err, p.audit(Deed{
		Action: r.Kind, Queue: r.Shelf.Queue, Letters: result.Archived, Failed: err != nil || result.Undeleted > 0,
		File: o.Path, Why: r.Why,
	}))
	problem := ""
	switch {
	case errors.Is(err, context.Canceled):
		problem = "stopped; what is in the file and not deleted is in both places"
	case err != nil:
		problem = p.options.explain(r.Shelf.Queue, err)
	case result.Undeleted > 0:
		problem = deadletters.Number(result.Undeleted, "letter is", "letters are") + " in the file and still in the queue"
	case result.Archived == 0:
		problem = "the letters are not there any more, and there is no file"
	}
	r.Shelf.vacate()
	r.end(problem)
}

func (p *Pages) archive(ctx context.Context, o *archive.Operation) (archive.Result, error) {
	var err error
	if o.Queue.Count, err = o.Queue.Recount(ctx); err != nil {
		return archive.Result{}, err
	}
	return o.Do(ctx)
}
