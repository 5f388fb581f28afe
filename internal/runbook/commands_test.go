package runbook_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// templates are the templates whose descriptions and outputs contain commands
// for people.
var templates = []string{"../../template.yaml", "../../docs/add-to-your-template.yaml"}

// Texts of a template, and the commands in them.
var (
	texts       = regexp.MustCompile(`(?:AlarmDescription|Value): !Sub (?:>-\n((?: {6,}.*\n)+)|"([^"]*)")`)
	inSentences = regexp.MustCompile("(?:^|: |`)(aws .+?)(?:\\. [A-Z]|`|$)")
	mapping     = regexp.MustCompile(`\$\{\w+Function\w+\}`)
	reference   = regexp.MustCompile(`\$\{(?:AWS::)?(?:Charge|Stock|Notify|Example)?(\w+)(?:\.\w+)?\}`)
)

// commandsOf returns the commands in a template's texts, each once. References
// to resources are replaced by words.
func commandsOf(template string) map[string]bool {
	all := map[string]bool{}
	for _, found := range texts.FindAllStringSubmatch(template, -1) {
		text := strings.Join(strings.Fields(found[1]+found[2]), " ")
		text = reference.ReplaceAllString(mapping.ReplaceAllString(text, anID), "$1")
		for _, c := range inSentences.FindAllStringSubmatch(text, -1) {
			all[c[1]] = true
		}
	}
	return all
}

// TestCommandsOfTemplatesMakeTheirCalls lets the CLI make the call of each command in alarm
// descriptions, outputs and dashboards. For a command that the CLI does not
// know it makes no call.
func TestCommandsOfTemplatesMakeTheirCalls(t *testing.T) {
	t.Parallel()
	folder := tools(t)
	var calls atomic.Int32
	refusal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		http.Error(w, `{"__type":"OnlyInAWS"}`, http.StatusBadRequest)
	}))
	t.Cleanup(refusal.Close)
	s := startShell(t, folder, refusal.URL)
	seen := map[string]bool{}
	for _, path := range templates {
		commands := commandsOf(read(t, path))
		if len(commands) < 5 {
			t.Errorf("%s has the commands %v only", path, commands)
		}
		for c := range commands {
			if seen[c] {
				continue
			}
			seen[c] = true
			before := calls.Load()
			if printed, _ := s.run(c + "\n"); calls.Load() != before+1 {
				t.Errorf("%s: the CLI makes %d calls of %s\n%s", path, calls.Load()-before, c, printed)
			}
		}
	}
	// The opposite case: a command that the CLI does not know.
	before := calls.Load()
	if printed, _ := s.run("aws logs tial LogGroup\n"); calls.Load() != before {
		t.Errorf("a command that there is not makes a call: %s", printed)
	}
}
