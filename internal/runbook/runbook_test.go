package runbook_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what commands print into the documents")

// TestCommandsPrintWhatTheRunbookShows runs the runbook.
func TestCommandsPrintWhatTheRunbookShows(t *testing.T) {
	t.Parallel()
	folder := tools(t)
	rec := &record{printed: map[*block]string{}, calls: map[string]bool{}, ended: map[*document]int{}}
	t.Cleanup(func() { rec.close(t) })
	for _, path := range guides {
		doc, err := readDocument(path)
		if err != nil {
			t.Fatal(err)
		}
		rec.documents = append(rec.documents, doc)
		for _, c := range doc.chapters {
			t.Run(fmt.Sprintf("%s:%d, %s", filepath.Base(path), c.line, c.state), func(t *testing.T) {
				t.Parallel()
				runChapter(t, folder, doc, c, rec)
			})
		}
	}
}

// record collects the results of the chapters.
type record struct {
	documents []*document

	mu      sync.Mutex
	printed map[*block]string // outputs that differ from the document
	calls   map[string]bool   // calls of blocks that cannot be run
	ended   map[*document]int // number of finished chapters
}

func (r *record) end(doc *document) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended[doc]++
}

// close checks what needs the results of all chapters.
func (r *record) close(t *testing.T) {
	for _, doc := range r.documents {
		if r.ended[doc] < len(doc.chapters) {
			return
		}
		if *update {
			if err := doc.write(r.printed); err != nil {
				t.Error(err)
			}
		}
	}
	for call := range onlyInAWS {
		if !r.calls[call] {
			t.Errorf("there is a reason why %s cannot be run, and no block makes that call", call)
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

func runChapter(t *testing.T, tools string, doc *document, c *chapter, rec *record) {
	bring, ok := states[c.state]
	if !ok {
		t.Fatalf("the test knows no state %q", c.state)
	}
	w := newWorld(t)
	p := &play{world: w, shell: startShell(t, tools, w.web.URL), shown: stabilizer{}, seen: stabilizer{}, record: rec}
	bring(w)
	if doc.path == guide {
		w.clock.endPolls() // sqsafe polls, and waits for a redrive by the clock of this machine
	}
	for _, b := range doc.setup {
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
	rec.end(doc)
}

func (p *play) block(b *block) {
	p.world.Helper()
	printed, code := p.shell.run(b.commands)
	if b.awsOnly {
		p.refused(b, printed)
		return
	}
	if calls := p.awsOnly.take(); len(calls) > 0 {
		p.Errorf("%s:%d: the block calls %v, which AWS alone can answer", b.path, b.line, calls)
	}
	if code != "0" {
		p.Errorf("%s:%d: exit code %s:\n%s%s", b.path, b.line, code, b.commands, printed)
	}
	if d := p.differ(b.output, printed); d != "" {
		p.note(b, presentable(printed))
		if !*update {
			p.Errorf("%s:%d: the runbook shows another output (-shown +printed):\n%s%s", b.path, b.line, b.commands, d)
		}
	}
}

// differ compares the output that the document shows with that of the commands. A line "…"
// stands for any number of lines; ids are not compared then.
func (p *play) differ(shown, printed string) string {
	const elision = "…\n"
	if !strings.HasPrefix(shown, elision) && !strings.Contains(shown, "\n"+elision) {
		return cmp.Diff(lines(p.shown.stable(shown)), lines(p.seen.stable(printed)))
	}
	nameless := func(text string) []string { return lines(numbers.ReplaceAllString(stabilizer{}.stable(text), "<$1>")) }
	want, got := nameless(strings.TrimSuffix(shown, "\n")), nameless(strings.TrimSuffix(printed, "\n"))
	if !alike(want, got) {
		return cmp.Diff(want, got)
	}
	return ""
}

// numbers matches the names that a stabilizer gives to ids.
var numbers = regexp.MustCompile(`<(id|hash) \d+>`)

// alike reports whether the lines are those that are wanted, where "…" matches any number.
func alike(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] != "…" {
		return len(got) > 0 && got[0] == want[0] && alike(want[1:], got[1:])
	}
	for skipped := range len(got) + 1 {
		if alike(want[1:], got[skipped:]) {
			return true
		}
	}
	return false
}

func lines(text string) []string { return strings.Split(text, "\n") }

// refused compares the refused calls of a block with the expected ones.
func (p *play) refused(b *block, printed string) {
	p.world.Helper()
	made := p.awsOnly.take()
	for _, call := range made {
		if onlyInAWS[call] == "" {
			p.Errorf("%s:%d: the test has no reason why %s cannot be run here", b.path, b.line, call)
		}
	}
	if want := strings.Count(b.commands, "aws "); len(made) != want || want == 0 {
		p.Errorf("%s:%d: %d of %d commands reached AWS:\n%s", b.path, b.line, len(made), want, printed)
	}
	p.called(made)
}
