package stackedit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// insertion is a text that is put into the template. Its lines end with \n.
type insertion struct {
	at   int
	text string
	// columns is the indentation of the block that it belongs to.
	columns int
}

// apply puts the insertions in. At the same place several blocks may end: what
// belongs to the innermost of them comes first.
func (t *template) apply(edits []insertion) []byte {
	slices.SortStableFunc(edits, func(a, b insertion) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.columns, a.columns))
	})
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		out.Write(t.text[last:e.at])
		last = e.at
		text := e.text
		whole := strings.HasSuffix(text, "\n")
		if whole && e.at == len(t.text) && e.at > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			text = "\n" + strings.TrimSuffix(text, "\n") // the file has no end of line, and gets none
		}
		out.WriteString(strings.ReplaceAll(text, "\n", t.newline()))
	}
	out.Write(t.text[last:])
	return out.Bytes()
}

// indented moves lines that are indented by two spaces or more to another
// indentation.
func indented(text string, columns int) string {
	if columns == 2 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.Repeat(" ", columns) + strings.TrimPrefix(line, "  "))
	}
	return out.String()
}

// inBlock is an insertion at the end of a mapping's block. A mapping in braces takes
// a single line after its brace, and one that is empty gets a block.
func (t *template) inBlock(key, n *yaml.Node, text string) (insertion, error) {
	columns := key.Column - 1 + 2
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == "":
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 && strings.Count(text, "\n") == 1:
		return insertion{at: t.offset(n) + 1, text: strings.TrimSpace(text) + ", "}, nil
	case n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 || n.Tag != "!!map":
		return insertion{}, fmt.Errorf("%s:%d: %s is not a block of lines, so nothing can be put in safely: write it as "+
			"one, or leave out --write and put in by hand what is printed", t.file, key.Line, key.Value)
	default:
		columns = n.Content[0].Column - 1
	}
	return insertion{at: t.after(key, columns), text: indented(text, columns), columns: columns}, nil
}

// section is an insertion at the end of a section of the template, which is made
// where there is none. New sections stand before Resources, or at the end.
func (t *template) section(name, text string) (insertion, error) {
	if key, n := member(t.root, name); key != nil {
		return t.inBlock(key, n, text)
	}
	resources, _ := member(t.root, "Resources")
	if name == "Outputs" || resources == nil {
		return insertion{at: len(t.text), text: "\n" + name + ":\n" + text}, nil
	}
	return insertion{at: t.aboveComments(resources), text: name + ":\n" + text + "\n"}, nil
}

// aboveComments is the start of the line of a key, or of the comments right above
// it.
func (t *template) aboveComments(key *yaml.Node) int {
	i := key.Line - 1
	for i > 0 && strings.HasPrefix(t.line(i-1), "#") {
		i--
	}
	return t.lines[i]
}

// verify compares the edited text with the one before: everything that was there
// has to mean the same, and nothing may be given twice.
func (t *template) verify(edited []byte) error {
	after, err := parse(t.file, edited)
	if err != nil {
		return fmt.Errorf("the result would not be YAML: %w", err)
	}
	if path := lost(t.root, after.root, ""); path != "" {
		return fmt.Errorf("%s: %s would change: leave out --write and put in by hand what is printed", t.file, path)
	}
	if name := twice(after.root); name != "" {
		return fmt.Errorf("%s: %s would be given twice: leave out --write and put in by hand what is printed", t.file, name)
	}
	return nil
}

// lost returns the path of something that a node has and another has not. The other
// may have more members and items.
func lost(before, after *yaml.Node, path string) string {
	if before.Kind != after.Kind || before.Tag != after.Tag || before.Value != after.Value {
		if before.Tag == "!!null" && after.Kind == yaml.MappingNode {
			return "" // an empty section that was filled
		}
		return path
	}
	if before.Kind != yaml.MappingNode {
		i := 0
		for _, n := range after.Content {
			if i < len(before.Content) && lost(before.Content[i], n, path) == "" {
				i++
			}
		}
		if i < len(before.Content) {
			return path
		}
		return ""
	}
	for i := 0; i+1 < len(before.Content); i += 2 {
		name := before.Content[i].Value
		key, n := member(after, name)
		if key == nil {
			return path + "/" + name
		}
		if p := lost(before.Content[i+1], n, path+"/"+name); p != "" {
			return p
		}
	}
	return ""
}

// twice returns a key that a mapping has twice.
func twice(n *yaml.Node) string {
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[child.Value] {
				return child.Value
			}
			seen[child.Value] = true
		}
		if name := twice(child); name != "" {
			return name
		}
	}
	return ""
}
