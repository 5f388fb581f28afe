package check

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// faulty are the stacks of testdata/faulty and the only rule that each breaks.
var faulty = map[string]string{
	"01no-ReportBatchItemFailures":        "E01",
	"02visibilitylttimeout":               "E02",
	"03visibilitylt6x":                    "W03",
	"05maxReceive3":                       "E05",
	"06envnemaxReceive":                   "E06",
	"09fifo-source-std-dlq":               "E35",
	"11no-ChangeVisibility":               "E11",
	"13SQSAFE_DLQ_URL-is-source":          "E13",
	"16reservedltmax":                     "E15",
	"19batch1000-no-window":               "E16",
	"20filter":                            "E17",
	"23ttl-off":                           "E19",
	"26log-level-WARN":                    "W20",
	"28alarm-on-NumberOfMessagesSent-dlq": "E07",
	"30alarm-age-avg-missing-breaching":   "W08",
	"32two-functions-one-queue":           "E22",
	"36dlq-deleted-with-stack":            "W25",
	"38queue-delay+retentionltretries":    "E24",
}

func TestEachFaultyStackBreaksOneRule(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/faulty/*.yaml")
	if err != nil || len(files) != len(faulty) {
		t.Fatalf("%d files, %d in the table: %v", len(files), len(faulty), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if got := rulesIn(t, file, read(t, file)); !slices.Equal(got, []string{faulty[name]}) {
			t.Errorf("%s breaks %v, want only %q", name, got, faulty[name])
		}
	}
}

func TestSoundStacksBreakNoRule(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"testdata/base.yaml", "testdata/plain.yaml", "testdata/synth.json"} {
		if got := rulesIn(t, file, read(t, file)); len(got) > 0 {
			t.Errorf("%s breaks %v", file, got)
		}
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// rulesIn returns the rules that a template breaks, without those that it
// ignores.
func rulesIn(t testing.TB, file, text string) []string {
	t.Helper()
	report, err := Check(file, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, f := range report.Findings {
		if f.Line < 1 || f.Column < 1 || f.Message == "" || f.Write == "" || !strings.HasPrefix(f.Source, "https://") {
			t.Errorf("%s: incomplete finding %+v", file, f)
		}
		if f.Ignored == "" {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// change returns a text with some of its parts replaced. Each must be there.
func change(t testing.TB, text string, pairs []string) string {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in the template", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// The variables that the rules know are those that the engine reads.
func TestSettingsAreThoseOfTheEngine(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../environment.go")
	if err != nil {
		t.Fatal(err)
	}
	var read []string
	for _, found := range regexp.MustCompile(`Variable\s+= "(SQSAFE_[A-Z_]+)"`).FindAllSubmatch(source, -1) {
		read = append(read, string(found[1]))
	}
	slices.Sort(read)
	if known := slices.Sorted(slices.Values(settings)); !slices.Equal(read, known) {
		t.Errorf("the engine reads %v, the rules know %v", read, known)
	}
}
