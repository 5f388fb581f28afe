package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// ignore is a comment that says that a rule does not hold somewhere, and why.
type ignore struct {
	line   int // of the comment
	target int // the line that it is about
	rule   string
	reason string
}

var ignoreComment = regexp.MustCompile(`(^|\s)#\s*sqsafe:ignore\b\s*([A-Za-z]\d+)?[\s:,-]*(.*)$`)

// ignoreRules are about ignoring itself.
func ignoreRules() []Rule {
	return []Rule{{
		ID: "W00", Title: "an ignore without a reason, or for a rule that does not exist",
		Why:    "It ignores nothing, and nobody can see later whether it still holds.",
		Write:  "# sqsafe:ignore RULE the reason",
		Source: "https://github.com/sqsafe/sqsafe/blob/main/docs/check.md",
	}}
}

// readIgnores reads the comments of a YAML text. A comment is about its own line,
// or about the next one if it stands alone.
func readIgnores(data []byte) []ignore {
	var list []ignore
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		found := ignoreComment.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if found == nil {
			continue
		}
		one := ignore{line: i + 1, target: i + 1, rule: strings.ToUpper(found[2]), reason: strings.TrimSpace(found[3])}
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			one.target = nextLine(lines, i+1)
		}
		list = append(list, one)
	}
	return list
}

// nextLine returns the number of the first line from index i on that is neither
// empty nor a comment.
func nextLine(lines []string, i int) int {
	for ; i < len(lines); i++ {
		if text := strings.TrimSpace(lines[i]); text != "" && text[0] != '#' {
			break
		}
	}
	return i + 1
}

// ignore marks the findings that the template ignores.
func (m *model) ignore(report *Report, comments []ignore, root *yaml.Node) {
	known := map[string]bool{}
	for _, rule := range Rules() {
		known[rule.ID] = true
	}
	for _, c := range comments {
		if !known[c.rule] || c.reason == "" {
			said := "names no rule"
			switch {
			case c.rule != "" && !known[c.rule]:
				said = "names the rule " + c.rule + ", which does not exist"
			case c.rule != "":
				said = "gives no reason"
			}
			m.badIgnore(report, "", &yaml.Node{Line: c.line, Column: 1}, "the comment sqsafe:ignore "+said)
			continue
		}
		last := lastLine(root, c.target, 1<<30)
		for i := range report.Findings {
			f := &report.Findings[i]
			r := m.byID[f.Resource]
			inside := f.Line >= c.target && f.Line <= last
			if f.Rule == c.rule && (inside || r != nil && r.key.Line == c.target) {
				f.Ignored = c.reason
			}
		}
	}
	m.ignoreByMetadata(report, known)
}

// ignoreByMetadata reads Metadata: {sqsafe: {ignore: {RULE: reason}}} of each
// resource, for templates without comments.
func (m *model) ignoreByMetadata(report *Report, known map[string]bool) {
	for _, r := range m.all {
		ignored := cfn.Member(cfn.Member(cfn.Member(r.body, "Metadata"), "sqsafe"), "ignore")
		for _, e := range cfn.Entries(ignored) {
			if !known[e.Key.Value] || strings.TrimSpace(e.Value.Value) == "" {
				m.badIgnore(report, r.id, e.Key, fmt.Sprintf("the Metadata of %s ignores %s without a reason, or it is no rule",
					r.id, e.Key.Value))
				continue
			}
			for i := range report.Findings {
				if f := &report.Findings[i]; f.Resource == r.id && f.Rule == e.Key.Value {
					f.Ignored = e.Value.Value
				}
			}
		}
	}
}

func (m *model) badIgnore(report *Report, resource string, at *yaml.Node, detail string) {
	rule := ignoreRules()[0]
	report.Findings = append(report.Findings,
		m.finished(&rule, finding{resource: resource, node: at, detail: detail}))
}

// lastLine returns the last line of what begins at a line: the outermost member
// or item there. end is the last line of n.
func lastLine(n *yaml.Node, line, end int) int {
	children := n.Content
	if n.Kind == yaml.MappingNode {
		children = nil
		for _, e := range cfn.Entries(n) {
			children = append(children, e.Key)
		}
	}
	i := slices.IndexFunc(children, func(c *yaml.Node) bool { return c.Line > line })
	if i < 0 {
		i = len(children)
	} else {
		end = min(end, children[i].Line-1)
	}
	if i == 0 {
		return line
	}
	if children[i-1].Line == line {
		return max(end, line)
	}
	if n.Kind == yaml.MappingNode {
		return lastLine(n.Content[2*(i-1)+1], line, end)
	}
	return lastLine(children[i-1], line, end)
}
