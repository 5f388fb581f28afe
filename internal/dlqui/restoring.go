package dlqui

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
	"github.com/sqsafe/sqsafe/internal/deadletters/archive"
)

// archived is a file of the directory with letters.
type archived struct {
	Name, From, Why, Problem string
	Created                  time.Time
	Letters, Bytes           int
	// Before is how many letters were restored before.
	Before int
	// Read says that the file was read, which a large one is not.
	Read bool
	// Whole is false if the archiving was interrupted.
	Whole bool
}

type restoreContent struct {
	Directory string
	Files     []archived
	// More is how many older files are not listed.
	More int
}

const (
	// shownArchives is how many files are listed, the newest.
	shownArchives = 50
	// largestRead is up to which size in bytes a file is read for the list.
	largestRead = 4 << 20
)

// restoring lists the archives of the directory.
func (p *Pages) restoring(w http.ResponseWriter, _ *http.Request, s *shelf) error {
	c := restoreContent{Directory: p.options.Directory}
	names, err := archiveNames(p.options.Directory)
	if err != nil {
		return &problem{http.StatusInternalServerError, err.Error()}
	}
	c.More = max(0, len(names)-shownArchives)
	for _, name := range names[:len(names)-c.More] {
		c.Files = append(c.Files, describeArchive(filepath.Join(p.options.Directory, name)))
	}
	p.render(w, http.StatusOK, "restore.html", &view{
		Title: "Restore letters to " + s.Name, Shelf: s, Data: c, Busy: s.busy(),
		Trail: []crumb{{s.Name, path(s.Name, "", nil)}},
	})
	return nil
}

// archiveNames returns the names of the archives in a directory, the newest first.
func archiveNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var files []os.FileInfo
	for _, e := range entries {
		is := strings.HasPrefix(e.Name(), kindArchive+"-") || strings.HasPrefix(e.Name(), kindDiscard+"-")
		if !is || !strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".jsonl") || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name()
	}
	return names, nil
}

func describeArchive(path string) archived {
	a := archived{Name: filepath.Base(path), Before: archive.RestoredBefore(path)}
	info, err := os.Stat(path)
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	if a.Bytes = int(info.Size()); a.Bytes > largestRead {
		return a // it is verified before anything is sent
	}
	content, err := archive.Verify(path)
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	a.From, a.Why, a.Created = content.Queue[strings.LastIndexByte(content.Queue, ':')+1:], content.Why, content.Created
	a.Read, a.Letters, a.Whole = true, content.Letters, content.Whole
	return a
}

// restore sends the letters of a file.
func (p *Pages) restore(w http.ResponseWriter, r *http.Request, s *shelf) error {
	if p.options.ReadOnly {
		return errReadOnly
	}
	names, err := archiveNames(p.options.Directory)
	if err != nil {
		return &problem{http.StatusInternalServerError, err.Error()}
	}
	name := r.PostFormValue("file")
	if !slices.Contains(names, name) {
		return &problem{http.StatusBadRequest, "there is no archive " + line(name) + "; nothing was done"}
	}
	if s.Target != "" && !s.read.SpendReceives {
		return &problem{http.StatusBadRequest,
			"queue " + s.Name + " has a redrive policy, so it is no place for dead letters"}
	}
	run := &run{ID: newRunID(), Kind: kindRestore, Why: strings.TrimSpace(r.PostFormValue("why")), Shelf: s}
	q := *s.Queue.Queue
	restoration := archive.Restoration{
		Path: filepath.Join(p.options.Directory, name), Queue: &q, Who: p.options.Who,
		Observe: func(sent int) { run.update(func(now *status) { now.Restored.Sent = sent }) },
	}
	work := func(ctx context.Context) { p.restoreFile(ctx, run, &restoration) }
	return p.started(w, r, run, p.runs.start(r.Context(), run, work))
}

func (p *Pages) restoreFile(ctx context.Context, r *run, o *archive.Restoration) {
	r.update(func(now *status) { now.Phase, now.File = phaseRestoring, o.Path })
	result, err := o.Do(ctx)
	r.update(func(now *status) { now.Restored = result })
	auditErr := p.audit(Deed{
		Action: kindRestore, Queue: r.Shelf.Queue, Letters: result.Sent, Failed: err != nil || result.Uncertain > 0,
		File: o.Path, Why: r.Why,
	})
	text := ""
	switch {
	case errors.Is(err, context.Canceled):
		text = "stopped; restore the file again to go on"
	case err != nil:
		text = p.options.explain(r.Shelf.Queue, err)
	case result.Uncertain > 0:
		text = deadletters.Number(result.Uncertain, "letter", "letters") + " may have been sent, and not again: " +
			"look for them; sqsafe dlq restore --again sends them"
	case auditErr != nil:
		text = auditErr.Error()
	}
	r.Shelf.vacate()
	r.end(text)
}
