package runbook_test

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what commands print into docs/RUNBOOK.md")

// TestCommandsPrintWhatTheRunbookShows runs the runbook.
func TestCommandsPrintWhatTheRunbookShows(t *testing.T) {
	t.Parallel()
	folder := tools(t)
	doc, err := readDocument()
	if err != nil {
		t.Fatal(err)
	}
	rec := &record{printed: map[*block]string{}, calls: map[string]bool{}}
	t.Cleanup(func() { rec.close(t, doc) })
	for _, c := range doc.chapters {
		t.Run(fmt.Sprintf("%s, line %d", c.state, c.line), func(t *testing.T) {
			t.Parallel()
			runChapter(t, folder, doc.setup, c, rec)
		})
	}
}

// record collects the results of the chapters.
type record struct {
	mu      sync.Mutex
	printed map[*block]string // outputs that differ from the document
	calls   map[string]bool   // calls of blocks that cannot be run
	ended   int               // number of finished chapters
}

func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended++
}

// close checks what needs the results of all chapters.
func (r *record) close(t *testing.T, doc *document) {
	if r.ended < len(doc.chapters) {
		return
	}
	for call := range onlyInAWS {
		if !r.calls[call] {
			t.Errorf("there is a reason why %s cannot be run, and no block makes that call", call)
		}
	}
	if *update {
		if err := doc.write(r.printed); err != nil {
			t.Error(err)
		}
	}
}

func (r *record) note(b *block, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.printed[b] = text
}

func (r *record) called(calls []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range calls {
		r.calls[call] = true
	}
}

// play is a running chapter.
type play struct {
	*world
	*shell

	shown, seen stabilizer
	*record
}

func runChapter(t *testing.T, tools string, setup []*block, c *chapter, rec *record) {
	bring, ok := states[c.state]
	if !ok {
		t.Fatalf("the test knows no state %q", c.state)
	}
	w := newWorld(t)
	p := &play{world: w, shell: startShell(t, tools, w.web.URL), shown: stabilizer{}, seen: stabilizer{}, record: rec}
	bring(w)
	for _, b := range setup {
		p.block(b)
	}
	for _, s := range c.steps {
		if s.block != nil {
			p.block(s.block)
			continue
		}
		happen, ok := happenings[s.then]
		if !ok {
			t.Fatalf("the test does not know what happens at %q", s.then)
		}
		happen(p)
	}
	rec.end()
}

func (p *play) block(b *block) {
	p.world.Helper()
	printed, code := p.shell.run(b.commands)
	if b.awsOnly {
		p.refused(b, printed)
		return
	}
	if calls := p.awsOnly.take(); len(calls) > 0 {
		p.Errorf("%s:%d: the block calls %v, which AWS alone can answer", guide, b.line, calls)
	}
	if code != "0" {
		p.Errorf("%s:%d: exit code %s:\n%s%s", guide, b.line, code, b.commands, printed)
	}
	shown, seen := lines(p.shown.stable(b.output)), lines(p.seen.stable(printed))
	if d := cmp.Diff(shown, seen); d != "" {
		p.note(b, presentable(printed))
		if !*update {
			p.Errorf("%s:%d: the runbook shows another output (-shown +printed):\n%s%s", guide, b.line, b.commands, d)
		}
	}
}

func lines(text string) []string { return strings.Split(text, "\n") }

// refused compares the refused calls of a block with the expected ones.
func (p *play) refused(b *block, printed string) {
	p.world.Helper()
	made := p.awsOnly.take()
	for _, call := range made {
		if onlyInAWS[call] == "" {
			p.Errorf("%s:%d: the test has no reason why %s cannot be run here", guide, b.line, call)
		}
	}
	if want := strings.Count(b.commands, "aws "); len(made) != want || want == 0 {
		p.Errorf("%s:%d: %d of %d commands reached AWS:\n%s", guide, b.line, len(made), want, printed)
	}
	p.called(made)
}
