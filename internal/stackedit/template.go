package stackedit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// template is a template's text with its nodes.
type template struct {
	file  string
	text  []byte
	root  *yaml.Node
	lines []int // the offset of each line
}

func parse(file string, text []byte) (*template, error) {
	t := &template{file: file, text: text}
	var document yaml.Node
	if err := yaml.Load(text, &document); err != nil {
		return nil, fmt.Errorf("%s: neither YAML nor JSON: %s", file, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: not a template: the top must be a mapping with Resources", file)
	}
	t.root = document.Content[0]
	t.lines = []int{0}
	for i, b := range text {
		if b == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t, nil
}

// errFlow says that a template cannot be edited.
var errFlow = errors.New("it is JSON, or its top is in braces: only a block of YAML is edited; " +
	"leave out --write and put in by hand what is printed")

// editable refuses a text that insertions could break.
func (t *template) editable() error {
	switch {
	case t.root.Style&yaml.FlowStyle != 0:
		return fmt.Errorf("%s: %w", t.file, errFlow)
	case bytes.Contains(t.text, []byte("\n...")) || bytes.Count(t.text, []byte("\n---")) > 0:
		return fmt.Errorf("%s: it has more than one document, or the end of one: remove the line ... or ---", t.file)
	case bytes.ContainsRune(bytes.ReplaceAll(t.text, []byte("\r\n"), nil), '\r'):
		return fmt.Errorf("%s: it has carriage returns that end no line: remove them", t.file)
	}
	return nil
}

// newline is how the lines of the text end.
func (t *template) newline() string {
	if i := bytes.IndexByte(t.text, '\n'); i > 0 && t.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// offset is the place of a node in the text: its line, and its column in
// characters.
func (t *template) offset(n *yaml.Node) int {
	at := t.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := decodeRune(t.text[at:])
		at += size
	}
	return at
}

// after is the place after the last line of a block whose lines are indented by at
// least so many columns, and which starts below a node. Empty lines and comments
// that follow do not belong to it.
func (t *template) after(key *yaml.Node, least int) int {
	end := key.Line // lines are counted from 1, so this is the index of the next
	for i := key.Line; i < len(t.lines); i++ {
		line := t.line(i)
		bare := strings.TrimLeft(line, " ")
		switch {
		case strings.TrimSpace(line) == "":
		case len(line)-len(bare) >= least:
			end = i + 1
		case !strings.HasPrefix(bare, "#"):
			return t.lineStart(end)
		}
	}
	return t.lineStart(end)
}

// lineStart is the offset of a line, or the end of the text.
func (t *template) lineStart(i int) int {
	if i < len(t.lines) {
		return t.lines[i]
	}
	return len(t.text)
}

// line is the text of a line, counted from 0, without its end.
func (t *template) line(i int) string {
	end := len(t.text)
	if i+1 < len(t.lines) {
		end = t.lines[i+1]
	}
	return strings.TrimRight(string(t.text[t.lines[i]:end]), "\r\n")
}

// member returns the key and the value of a mapping's member; nil if there is none.
func member(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func value(n *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		_, n = member(n, name)
	}
	return n
}

// text is a scalar's value; empty for anything else.
func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// reference returns the logical id that a !Ref or a !GetAtt names, in short or
// long form.
func reference(n *yaml.Node) (id, attribute string) {
	if n == nil {
		return "", ""
	}
	switch {
	case n.Tag == "!Ref":
		return n.Value, ""
	case n.Tag == "!GetAtt" && n.Kind == yaml.ScalarNode:
		id, attribute, _ = strings.Cut(n.Value, ".")
		return id, attribute
	case n.Tag == "!GetAtt" && len(n.Content) == 2:
		return text(n.Content[0]), text(n.Content[1])
	case n.Kind != yaml.MappingNode || len(n.Content) != 2:
		return "", ""
	case n.Content[0].Value == "Ref":
		return text(n.Content[1]), ""
	case n.Content[0].Value != "Fn::GetAtt":
		return "", ""
	case n.Content[1].Kind == yaml.SequenceNode && len(n.Content[1].Content) == 2:
		return text(n.Content[1].Content[0]), text(n.Content[1].Content[1])
	}
	id, attribute, _ = strings.Cut(text(n.Content[1]), ".")
	return id, attribute
}
