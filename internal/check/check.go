package check

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// Options are what is not in a template. The zero value works.
type Options struct {
	// Parameters override the defaults of the template's parameters.
	Parameters map[string]string
}

// Finding is a place in a template where a rule is broken.
type Finding struct {
	Rule     string `json:"rule"`
	Level    Level  `json:"level"`
	File     string `json:"file"`
	Line     int    `json:"line"` // from 1
	Column   int    `json:"column"`
	Resource string `json:"resource"` // the logical id
	// Message says what is wrong here, Why what happens in production.
	Message string `json:"message"`
	Why     string `json:"why"`
	// Write are the lines to write.
	Write string `json:"write"`
	// Source is a page that says so.
	Source string `json:"source"`
	// Fixable says that [Fix] can write the lines.
	Fixable bool `json:"fixable"`
	// Ignored is the reason that the template gives for ignoring it; empty if it
	// counts.
	Ignored string `json:"ignored,omitempty"`

	edits []edit
}

// Report is what [Check] finds.
type Report struct {
	// Findings are in the order of the template; ignored ones are among them.
	Findings []Finding
	// Consumers is the number of event source mappings on queues.
	Consumers int
}

// Count returns the number of findings of a level that are not ignored.
func (r *Report) Count(level Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level && f.Ignored == "" {
			n++
		}
	}
	return n
}

// Check reads a template's text and asks each rule. file is its name in findings
// and errors. An error means that the text is no template; it is a [*cfn.Error].
func Check(file string, data []byte, o *Options) (*Report, error) {
	var given map[string]string
	if o != nil {
		given = o.Parameters
	}
	root, report, m, err := examine(file, data, given)
	if err != nil {
		return nil, err
	}
	m.ignore(report, readIgnores(data), root)
	report.sort()
	return report, nil
}

// examine reads a template and asks the rules for templates.
func examine(file string, data []byte, given map[string]string) (*yaml.Node, *Report, *model, error) {
	root, _, err := cfn.Load(file, data)
	if err != nil {
		return nil, nil, nil, err
	}
	if cfn.Member(root, "Resources") == nil {
		return nil, nil, nil, &cfn.Error{File: file, Line: root.Line, Message: "not a template: it has no Resources"}
	}
	m, err := newModel(file, root, given)
	if err != nil {
		return nil, nil, nil, err
	}
	report := &Report{Consumers: len(m.consumers)}
	for _, rule := range Rules() {
		if rule.find == nil {
			continue
		}
		for _, f := range rule.find(m) {
			report.Findings = append(report.Findings, m.finished(&rule, f))
		}
	}
	return root, report, m, nil
}

// sort puts findings into the order of the template, without those that loops
// make more than once.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
	})
	r.Findings = slices.CompactFunc(r.Findings, func(a, b Finding) bool {
		return a.Rule == b.Rule && a.Line == b.Line && a.Column == b.Column && a.Message == b.Message
	})
}

// finished makes a finding of what a rule has found.
func (m *model) finished(rule *Rule, f finding) Finding {
	at := f.node
	if r := m.byID[f.resource]; at == nil || at.Line == 0 {
		at = &yaml.Node{Line: 1, Column: 1}
		if r != nil {
			at = r.key
		}
	}
	return Finding{
		Rule: rule.ID, Level: rule.Level(), File: m.file, Line: at.Line, Column: at.Column, Resource: f.resource,
		Message: f.detail, Why: rule.Why, Write: cmp.Or(f.write, linesOf(f.edits), rule.Write), Source: rule.Source,
		Fixable: len(f.edits) > 0, edits: f.edits,
	}
}

// linesOf returns the lines that edits write.
func linesOf(edits []edit) string {
	if len(edits) != 1 || edits[0].key == "" {
		return ""
	}
	return edits[0].key + ": " + edits[0].value
}

// Error says how many findings there are, for a command that fails because of
// them; nil if there is none.
func (r *Report) Error(strict bool) error {
	errs, warnings := r.Count(LevelError), r.Count(LevelWarning)
	if errs == 0 && (!strict || warnings == 0) {
		return nil
	}
	return fmt.Errorf("%s and %s", plural(errs, "error"), plural(warnings, "warning"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
