package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

// Fix writes the lines of all findings that can be mended mechanically, each at
// its place; every other byte stays. A change is kept only if the finding is gone
// after it and no rule of the level error is broken that was not before. The
// result has nothing left that Fix would change. fixed are the findings that are
// gone.
func Fix(file string, data []byte, o *Options) (result []byte, fixed []Finding, err error) {
	report, err := Check(file, data, o)
	if err != nil {
		return nil, nil, err
	}
	tried := map[string]bool{}
	for {
		f, ok := report.next(tried)
		if !ok {
			return data, fixed, nil
		}
		tried[f.identity()] = true
		changed, ok := apply(data, f.edits)
		if !ok {
			continue
		}
		after, err := Check(file, changed, o)
		if err != nil || after.has(f) || after.Count(LevelError) > report.Count(LevelError) {
			continue // what looked mechanical was not
		}
		data, report, fixed = changed, after, append(fixed, f)
	}
}

// next returns the first finding that has edits and was not tried.
func (r *Report) next(tried map[string]bool) (Finding, bool) {
	for _, f := range r.Findings {
		if len(f.edits) > 0 && f.Ignored == "" && !tried[f.identity()] {
			return f, true
		}
	}
	return Finding{}, false
}

func (r *Report) has(f Finding) bool {
	for _, other := range r.Findings {
		if other.identity() == f.identity() {
			return true
		}
	}
	return false
}

// identity is the same after other edits.
func (f *Finding) identity() string { return f.Rule + " " + f.Resource + " " + f.Message }

// apply makes edits, the last in the text first. It reports false, and changes
// nothing, if the text at a place is not what the edit is about.
func apply(data []byte, edits []edit) ([]byte, bool) {
	text := string(data)
	forwards := slices.SortedStableFunc(slices.Values(edits), func(a, b edit) int {
		return cmp.Or(a.line-b.line, a.column-b.column)
	})
	for _, e := range slices.Backward(forwards) {
		changed, ok := e.apply(text)
		if !ok {
			return data, false
		}
		text = changed
	}
	return []byte(text), true
}

func (e edit) apply(text string) (string, bool) {
	start, at, ok := offset(text, e.line, e.column)
	if !ok {
		return text, false
	}
	if e.scalar != nil {
		return e.replaceScalar(text, at)
	}
	member, ok := e.member()
	if !ok {
		return text, false
	}
	if before := text[start:at]; e.flow && strings.TrimSpace(before) != "" {
		return text[:at] + member + ", " + text[at:], true
	}
	end := "\n"
	if i := strings.IndexByte(text[start:], '\n'); i > 0 && text[start+i-1] == '\r' {
		end = "\r\n"
	}
	if e.flow {
		end = "," + end
	}
	return text[:at] + member + end + indentation(text[start:at]) + text[at:], true
}

// member is the new member in the style of its mapping.
func (e edit) member() (string, bool) {
	if !e.json {
		return e.key + ": " + e.value, true
	}
	var n yaml.Node
	if err := yaml.Load([]byte(e.value), &n); err != nil || len(n.Content) != 1 {
		return "", false
	}
	return fmt.Sprintf("%q: %s", e.key, asJSON(n.Content[0])), true
}

// asJSON writes a node as JSON, with the members in their order.
func asJSON(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for _, e := range cfn.Entries(n) {
			parts = append(parts, asJSON(e.Key)+": "+asJSON(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, asJSON(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if n.Tag == "!!int" || n.Tag == "!!bool" {
		return n.Value
	}
	quoted, _ := json.Marshal(n.Value)
	return string(quoted)
}

// replaceScalar replaces the scalar that begins at an offset, and keeps its
// quotes.
func (e edit) replaceScalar(text string, at int) (string, bool) {
	old := e.scalar.Value
	quote := ""
	switch {
	case e.scalar.Style&yaml.DoubleQuotedStyle != 0:
		quote = `"`
	case e.scalar.Style&yaml.SingleQuotedStyle != 0:
		quote = "'"
	}
	written := quote + old + quote
	rest, ok := strings.CutPrefix(text[at:], written)
	if !ok || old == "" || quote == "" && strings.ContainsAny(old, "\n\r") {
		return text, false
	}
	return text[:at] + quote + e.value + quote + rest, true
}

// offset returns the offsets of a line's begin and of a place in it. Columns
// count characters from 1.
func offset(text string, line, column int) (start, at int, ok bool) {
	for range line - 1 {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return 0, 0, false
		}
		start += i + 1
	}
	at = start
	if line == 1 && strings.HasPrefix(text, "\ufeff") {
		at += len("\ufeff") // a byte order mark is in no column
	}
	for range column - 1 {
		if at >= len(text) || text[at] == '\n' {
			return 0, 0, false
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return start, at, true
}

// indentation is the space of what stands before a key, such as a dash.
func indentation(before string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == ' ' {
			return r
		}
		return ' '
	}, strings.TrimPrefix(before, "\ufeff"))
}
