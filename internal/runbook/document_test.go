package runbook_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The runbook, and its appendix for machines without the command sqsafe.
const (
	guide    = "../../docs/RUNBOOK.md"
	appendix = "../../docs/runbook-aws-cli.md"
)

// guides are the documents whose commands are run.
var guides = []string{guide, appendix}

// block is a fenced block of commands, with its expected output.
type block struct {
	path     string // of the document
	line     int    // line in it, from 1
	commands string
	awsOnly  bool
	// output is the text of the block after it. from and to are the lines of
	// that block in the document, or where it would be if there is none.
	output   string
	shown    bool
	from, to int
}

// step is a block, or an event between blocks.
type step struct {
	then  string
	block *block
}

// chapter is the list of steps in one state.
type chapter struct {
	state string
	line  int
	steps []step
}

// document is the runbook as a script.
type document struct {
	path     string
	lines    []string
	setup    []*block
	chapters []*chapter
}

func readDocument(path string) (*document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, string(text))
}

// reader is the state of the parser.
type reader struct {
	*document

	at int
	// setting says that the blocks belong to the setup.
	setting bool
	// last is the block that the next output block belongs to.
	last *block
}

func parse(path, text string) (*document, error) {
	r := &reader{document: &document{path: path, lines: strings.Split(text, "\n")}}
	for ; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		switch {
		case strings.HasPrefix(line, "```"):
			if err := r.fence(strings.TrimPrefix(line, "```")); err != nil {
				return nil, err
			}
		case strings.HasPrefix(line, "<!--"):
			if err := r.mark(line); err != nil {
				return nil, err
			}
		case line != "":
			r.last = nil
		}
	}
	return r.document, nil
}

// errorf returns an error with the current line.
func (r *reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", r.path, r.at+1, fmt.Sprintf(format, args...))
}

// mark parses a comment.
func (r *reader) mark(line string) error {
	text, ok := strings.CutSuffix(strings.TrimPrefix(line, "<!-- "), " -->")
	if !ok {
		return r.errorf("a comment must be <!-- TEXT --> on a line of its own")
	}
	kind, name, _ := strings.Cut(text, ": ")
	switch kind {
	case "setup":
		r.setting = true
	case "state":
		r.setting = false
		r.chapters = append(r.chapters, &chapter{state: name, line: r.at + 1})
	case "then":
		return r.add(step{then: name})
	default:
		return r.errorf("unknown comment %q; there are setup, state and then", kind)
	}
	return nil
}

// fence parses a block to its end.
func (r *reader) fence(info string) error {
	opened := r.at
	for r.at++; r.at < len(r.lines) && r.lines[r.at] != "```"; r.at++ {
	}
	if r.at == len(r.lines) {
		r.at = opened
		return r.errorf("the block is not closed")
	}
	text := strings.Join(r.lines[opened+1:r.at], "\n") + "\n"
	switch info {
	case "sh", "sh aws-only":
		r.last = &block{
			path: r.path, line: opened + 1, commands: text, awsOnly: info != "sh", from: r.at + 1, to: r.at + 1,
		}
		return r.add(step{block: r.last})
	case "text", "json":
		if r.last == nil {
			return r.errorf("the block above is no output of commands")
		}
		r.last.output, r.last.shown, r.last.from, r.last.to = text, true, opened+1, r.at
		r.last = nil
		return nil
	case "logs-insights":
		return nil // a log query, for the AWS console
	default:
		return r.errorf("a block of %q; there are sh, sh aws-only, text, json and logs-insights", info)
	}
}

func (r *reader) add(s step) error {
	if r.setting && s.block != nil {
		r.setup = append(r.setup, s.block)
		return nil
	}
	if len(r.chapters) == 0 {
		return r.errorf("it is not said in which state")
	}
	c := r.chapters[len(r.chapters)-1]
	c.steps = append(c.steps, s)
	return nil
}

// blocks returns all blocks in their order.
func (d *document) blocks() []*block {
	all := slices.Clone(d.setup)
	for _, c := range d.chapters {
		for _, s := range c.steps {
			if s.block != nil {
				all = append(all, s.block)
			}
		}
	}
	return all
}

// write replaces the outputs in the document by what the blocks printed. It
// starts at the end, since line numbers change after each replacement.
func (d *document) write(printed map[*block]string) error {
	lines := d.lines
	all := d.blocks()
	for _, b := range slices.Backward(all) {
		text, ok := printed[b]
		if !ok {
			continue
		}
		fresh := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if !b.shown {
			fresh = append(append([]string{"", "```text"}, fresh...), "```")
		}
		lines = append(append(append([]string{}, lines[:b.from]...), fresh...), lines[b.to:]...)
	}
	return os.WriteFile(d.path, []byte(strings.Join(lines, "\n")), 0o600)
}
