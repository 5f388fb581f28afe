package release_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?s)```.*?\n```")
	inline  = regexp.MustCompile("`[^`\n]*`")
)

// TestLinksOfPagesLeadSomewhere follows each link from a page to another file of the repository, and to its heading.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	module := os.DirFS(root)
	followed := 0
	for _, page := range pages(t, module) {
		text := inline.ReplaceAllString(fenced.ReplaceAllString(read(t, page), ""), "")
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") || strings.HasPrefix(match[1], "mailto:") {
				continue
			}
			followed++
			file, anchor, _ := strings.Cut(match[1], "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			if _, err := fs.Stat(module, target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, match[1])
				continue
			}
			if anchor != "" && !anchors(read(t, target))[anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", page, match[1], target)
			}
		}
	}
	if followed < 100 {
		t.Errorf("%d links were followed, want 100 at least: is the pattern still right?", followed)
	}
}

// pages lists the pages that people read, below the module's root.
func pages(t *testing.T, module fs.FS) (found []string) {
	t.Helper()
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (base[0] == '.' || base == "testdata" || base == "node_modules"):
			return fs.SkipDir
		case path.Ext(name) == ".md" || base == "llms.txt":
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// anchors are the names that GitHub gives to the headings of a page.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		words := link.ReplaceAllString(match[1], "]")
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, words)
		found[name] = true
	}
	return found
}
