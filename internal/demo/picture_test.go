package demo

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/cli"
)

// TestPicture writes docs/make-run.png: what make run shows on a terminal, without most of its middle.
func TestPicture(t *testing.T) {
	file := os.Getenv("SQSAFE_PICTURE")
	if file == "" {
		t.Skip("writes a picture; run make run-picture")
	}
	t.Chdir(filepath.Join("..", ".."))
	t.Setenv("CLICOLOR_FORCE", "1")
	var out, errs bytes.Buffer
	if code := Run(t.Context(), cli.Streams{Out: &out, Err: &errs}); code != cli.ExitOK {
		t.Fatalf("exit code %d, %s\n%s", code, &errs, &out)
	}
	lines := excerpt(strings.Split(strings.TrimSpace(out.String()), "\n"))
	const width, lineHeight, margin = 900, 17, 14
	page := filepath.Join(t.TempDir(), "page.html")
	text := fmt.Sprintf(`<!DOCTYPE html><meta charset="utf-8"><style>
		body { margin: 0; padding: %dpx; background: #0d1117; color: #e6edf3; overflow: hidden }
		p { margin: 0; font: 13px/%dpx "DejaVu Sans Mono", monospace; white-space: pre }
		p { overflow: hidden; text-overflow: ellipsis }
		</style><p>%s</p>`, margin, lineHeight,
		strings.ReplaceAll(markup("$ make run\n"+strings.Join(lines, "\n")), "\n", "</p><p>"))
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	height := 2*margin + lineHeight*(len(lines)+1)
	shot := exec.CommandContext(t.Context(),
		"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot="+file, "file://"+page)
	if said, err := shot.CombinedOutput(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, said)
	}
}

// excerpt keeps the beginning, the end with the table, and between them one job that is retried.
func excerpt(lines []string) []string {
	const first, last = 6, 12
	table := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "┌") })
	isOf := func(string) bool { return false }
	if at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "key ch-4") }); at >= 0 {
		// Time and message id come first.
		id := strings.Fields(plain(lines[at]))[1]
		isOf = func(line string) bool { return strings.Contains(line, id) }
	}
	var kept []string
	for i, line := range lines {
		if i == first || i == table-last {
			kept = append(kept, "…")
		}
		if i < first || i >= table-last || isOf(line) {
			kept = append(kept, line)
		}
	}
	return kept
}

var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

func plain(line string) string { return escape.ReplaceAllString(line, "") }

// colours are those of a terminal, by the numbers that select them.
func colours() map[int]string {
	return map[int]string{
		30: "#484f58", 31: "#ff7b72", 32: "#3fb950", 33: "#d29922", 34: "#58a6ff", 35: "#bc8cff", 36: "#39c5cf",
		37: "#b1bac4",
		90: "#8b949e", 91: "#ffa198", 92: "#56d364", 93: "#e3b341", 94: "#79c0ff", 95: "#d2a8ff", 96: "#56d4dd",
		97: "#ffffff",
	}
}

// markup is HTML of a text with the colours of a terminal.
func markup(text string) string {
	var out strings.Builder
	end := 0
	write := func(text, style string) {
		if style != "" && text != "" {
			fmt.Fprintf(&out, `<span style="%s">%s</span>`, style, html.EscapeString(text))
			return
		}
		out.WriteString(html.EscapeString(text))
	}
	style := ""
	for _, at := range escape.FindAllStringSubmatchIndex(text, -1) {
		write(text[end:at[0]], style)
		style, end = styleOf(style, text[at[2]:at[3]]), at[1]
	}
	write(text[end:], style)
	return out.String()
}

func styleOf(style, codes string) string {
	for code := range strings.SplitSeq(codes, ";") {
		n, err := strconv.Atoi(code)
		switch colour := colours()[n]; {
		case err != nil || n == 0:
			style = ""
		case n == 1:
			style += "font-weight:bold;"
		case n == 2:
			style += "opacity:.65;"
		case colour != "":
			style += "color:" + colour + ";"
		}
	}
	return style
}

func TestColoursOfATerminal(t *testing.T) {
	t.Parallel()
	got := markup("a\x1b[31md<b>\x1b[0m \x1b[1;2mb\x1b[m")
	want := `a<span style="color:#ff7b72;">d&lt;b&gt;</span> <span style="font-weight:bold;opacity:.65;">b</span>`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("markup (-want +got):\n%s", diff)
	}
}
