package alarmset_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/alarm"
	"github.com/sqsafe/sqsafe/internal/alarmset"
)

var sets = []alarmset.Set{alarmset.Basic, alarmset.Full, alarmset.Traffic, alarmset.Rollback}

func function(prefix string) alarmset.Unit {
	return alarmset.Unit{
		Prefix: prefix, Function: prefix + "Function", Mapping: prefix + "FunctionJob", Source: prefix + "Queue",
		Dead: prefix + "DeadLetterQueue", LogGroup: "${" + prefix + "LogGroup}", Namespace: "!Ref MetricsNamespace",
		Timeout: "${FunctionTimeout}", Alias: "live",
	}
}

func worker(prefix string) alarmset.Unit {
	return alarmset.Unit{
		Prefix: prefix, Source: prefix + "Queue", Dead: prefix + "DeadLetterQueue", Namespace: "sqsafe",
		Metrics: "!GetAtt " + prefix + "Queue.QueueName",
	}
}

// In AWS a name can have this many bytes: "STACK-" before and "-7A8B9C0D1E2F" after the
// logical id, and a URL of the runbook 200 with its anchor.
const (
	longName = 140
	longURL  = 200
)

var substitution = regexp.MustCompile(`\$\{(\w+)(\.\w+)?\}`)

func TestDescriptionsSayWhatToDoFirst(t *testing.T) {
	t.Parallel()
	for _, u := range []alarmset.Unit{function("Charge"), worker("Charge")} {
		for _, a := range alarmset.Alarms(u, nil, sets...) {
			d := a.Description
			if !strings.Contains(strings.ToLower(d), u.Subject()) || !strings.Contains(d, " First ") ||
				!regexp.MustCompile(`\. \$\{RunbookUrl\}#[a-z-]+$`).MatchString(d) || strings.Contains(d, "$SUB") {
				t.Errorf("%s: %s", a.Name, d)
			}
			longest := substitution.ReplaceAllStringFunc(d, func(name string) string {
				if name == "${RunbookUrl}" {
					return strings.Repeat("x", longURL)
				}
				return strings.Repeat("x", longName)
			})
			if len(longest) > 1024 { // CloudWatch's limit
				t.Errorf("%s: the description can have %d bytes", a.Name, len(longest))
			}
		}
	}
}

// CloudWatch takes the definitions, and every alarm of a function is of one unit.
func TestDefinitionsCanBeEvaluated(t *testing.T) {
	t.Parallel()
	e := alarm.NewEvaluator(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), nil)
	for _, u := range []alarmset.Unit{function("Charge"), function("Stock"), worker("Import")} {
		u.Timeout = "30"
		for _, a := range alarmset.Alarms(u, nil, sets...) {
			if err := e.Watch(a.Definition); err != nil {
				t.Error(err)
			}
			if len(a.AlarmActions) > 0 {
				t.Errorf("%s has actions of its own: %v", a.Name, a.AlarmActions)
			}
		}
	}
}

// What wakes somebody is what the design says, and what rolls a deployment back names
// no event source mapping, which is made after it.
func TestUrgencies(t *testing.T) {
	t.Parallel()
	now := map[string]bool{
		"Flood": true, "FunctionErrors": true, "ConsumerStalled": true, "BacklogGrows": true, "SilentJobs": true,
		"BrokenPromises": true, "WorkerCrash": true, "WorkerMissing": true,
	}
	topics := alarmset.Topics{Alarms: "!Ref Pager", Notices: "!Ref Mail"}
	for _, u := range []alarmset.Unit{function("Charge"), worker("Charge")} {
		for _, a := range alarmset.Alarms(u, nil, sets...) {
			want := "!Ref Mail"
			if now[a.Role] {
				want = "!Ref Pager"
			}
			text := strings.Join(strings.Fields(a.YAML(topics)), " ")
			if !strings.Contains(text, "AlarmActions: ["+want+"], OKActions: ["+want+"]") {
				t.Errorf("%s does not go to %s: %s", a.Name, want, text)
			}
			if a.Set == alarmset.Rollback && strings.Contains(text, u.Mapping) {
				t.Errorf("%s names the mapping: %s", a.Name, text)
			}
		}
	}
}

func TestParametersReplaceDefaults(t *testing.T) {
	t.Parallel()
	all := alarmset.Alarms(function("Charge"), map[string]float64{"FloodThreshold": 3, "StalledMinutes": 17}, sets...)
	for _, a := range all {
		if a.ThresholdFrom == "FloodThreshold" && a.Threshold != 3 ||
			a.Role == "ConsumerStalled" && a.EvaluationPeriods != 17 {
			t.Errorf("%s has %v and %d", a.Name, a.Threshold, a.EvaluationPeriods)
		}
	}
}

// TestDashboard reads the body as CloudWatch does, with numbers for parameters.
func TestDashboard(t *testing.T) {
	t.Parallel()
	units := []alarmset.Unit{function("Charge"), function("Stock"), worker("Import")}
	text := alarmset.Dashboard(units, func(name string) bool { return name != "StockSilentJobsAlarm" })
	for line := range strings.Lines(text) {
		if len(line) > 121 {
			t.Errorf("a line of %d columns: %s", len(line)-1, line)
		}
	}
	_, body, _ := strings.Cut(text, "!Sub >-\n")
	body = strings.Join(strings.Fields(body), " ")
	for _, parameter := range []string{"${FloodThreshold}", "${QueueAgeThreshold}"} {
		body = strings.ReplaceAll(body, parameter, "7")
	}
	var board struct {
		Widgets []struct {
			Type                string
			X, Y, Width, Height int
			Properties          struct {
				Title, Region, Query string
				Alarms               []string
				Metrics              [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &board); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	taken := map[[2]int]string{}
	titles := ""
	for _, w := range board.Widgets {
		titles += w.Properties.Title + "\n"
		for x := w.X; x < w.X+w.Width; x++ {
			for y := w.Y; y < w.Y+w.Height; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Errorf("%q lies over %q, or beside the board", w.Properties.Title, other)
				}
				taken[[2]int{x, y}] = w.Properties.Title
			}
		}
		if w.Type == "metric" && (len(w.Properties.Metrics) == 0 || w.Properties.Region == "") {
			t.Errorf("%q shows nothing, or has no Region", w.Properties.Title)
		}
		if w.Type == "alarm" && (len(w.Properties.Alarms) != 5+6+7 || strings.Contains(body, "StockSilentJobsAlarm")) {
			t.Errorf("%d alarms: %v", len(w.Properties.Alarms), w.Properties.Alarms)
		}
		if w.Type == "log" && strings.Count(w.Properties.Query, "SOURCE ") != 2 {
			t.Errorf("the query does not read both functions' logs: %s", w.Properties.Query)
		}
	}
	for _, title := range []string{"Unclassified share", "Newest dead letters", "sqsafe dlq show", "Outcomes of import"} {
		if !strings.Contains(titles, title) {
			t.Errorf("no title has %q:\n%s", title, titles)
		}
	}
}
