package check

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// soundLive is what AWS answers about testdata/synth.json where nothing is wrong.
func soundLive() *Live {
	return &Live{
		Name: "app", Executions: 1000,
		Queues: []LiveQueue{
			{ID: "Jobs5E6F", Attributes: map[string]string{
				"VisibilityTimeout": "60", "RedrivePolicy": `{"deadLetterTargetArn":"arn","maxReceiveCount":5}`,
			}},
			{ID: "Dead1E2F", Attributes: map[string]string{"MessageRetentionPeriod": "1209600"}, Oldest: time.Hour},
		},
		Mappings: []LiveMapping{{
			ID: "WorkerSqsEventSource9C0D", State: "Enabled", Result: "No records processed", Reports: true, MaxConcurrency: 5,
		}},
		Functions: []LiveFunction{{
			ID: "Worker7A8B", Alias: "live", Variables: map[string]string{"SQSAFE_TABLE": "a", "OTHER": "x"},
			Running: map[string]string{"SQSAFE_TABLE": "a", "OTHER": "y"},
		}},
		Alarms: []LiveAlarm{{ID: "DeadAlarm3A4B", State: "OK", Enabled: true, Actions: 1}},
		Topics: []LiveTopic{{ARN: "arn:aws:sns:eu-west-1:1:alarms", Confirmed: 1, Pending: 1}},
		Tables: []LiveTable{{ID: "Ledger", TTL: "expiration"}},
	}
}

var liveScenarios = []struct {
	name   string
	change func(l *Live)
	rules  string
}{
	{"nothing", func(*Live) {}, ""},
	{"E50 the role", func(l *Live) { l.Mappings[0].Result = "PROBLEM: Function call failed" }, "E50"},
	{"E50 off", func(l *Live) { l.Mappings[0].State = "Disabled" }, "E50"},
	{"E50 not while it is made", func(l *Live) { l.Mappings[0].State = "Creating" }, ""},
	{"E51 a number", func(l *Live) { l.Queues[0].Attributes["VisibilityTimeout"] = "30" }, "E51"},
	{"E51 receives", func(l *Live) { l.Queues[0].Attributes["RedrivePolicy"] = `{"maxReceiveCount":"50"}` }, "E51"},
	{"E51 no policy", func(l *Live) { delete(l.Queues[0].Attributes, "RedrivePolicy") }, "E51"},
	{"E51 not the number as a text",
		func(l *Live) { l.Queues[0].Attributes["RedrivePolicy"] = `{"maxReceiveCount":"5"}` }, ""},
	{"E52 failures", func(l *Live) { l.Mappings[0].Reports = false }, "E52"},
	{"E52 a filter", func(l *Live) { l.Mappings[0].Filters = 1 }, "E52"},
	{"E52 not a mapping of another template", func(l *Live) { l.Mappings[0].ID, l.Mappings[0].Filters = "Other", 1 }, ""},
	{"E53 another function", func(l *Live) { l.Queues[0].Strangers = []string{"debug"} }, "E53"},
	{"E53 not none", func(l *Live) { l.Queues[0].Strangers = []string{} }, ""},
	{"W54 an old version", func(l *Live) { l.Functions[0].Running["SQSAFE_TABLE"] = "b" }, "W54"},
	{"W54 not a variable of the function's own", func(l *Live) { l.Functions[0].Running["OTHER"] = "z" }, ""},
	{"W55 a new account", func(l *Live) { l.Executions = 4 }, "W55"},
	{"W55 not a limit that is not known", func(l *Live) { l.Executions = 0 }, ""},
	{"W56 it rings", func(l *Live) { l.Alarms[0].State = "ALARM" }, "W56"},
	{"W56 switched off", func(l *Live) { l.Alarms[0].Enabled = false }, "W56"},
	{"W56 not without data", func(l *Live) { l.Alarms[0].State = "INSUFFICIENT_DATA" }, ""},
	{"W57 nobody", func(l *Live) { l.Topics[0].Confirmed, l.Topics[0].Pending = 0, 0 }, "W57"},
	{"W57 nobody yet", func(l *Live) { l.Topics[0].Confirmed = 0 }, "W57"},
	{"W57 not one of two", func(l *Live) { l.Topics[0].Pending = 2 }, ""},
	{"E58 off", func(l *Live) { l.Tables[0].TTL = "" }, "E58"},
	{"E58 another attribute", func(l *Live) { l.Tables[0].TTL = "ttl" }, "E58"},
	{"E58 not on expiration", func(*Live) {}, ""},
	{"W59 two days are left", func(l *Live) { l.Queues[1].Oldest = 12 * 24 * time.Hour }, "W59"},
	{"W59 not with four", func(l *Live) { l.Queues[1].Oldest = 10 * 24 * time.Hour }, ""},
}

func TestDeployedStacks(t *testing.T) {
	t.Parallel()
	template := []byte(read(t, "testdata/synth.json"))
	for _, s := range liveScenarios {
		l := soundLive()
		s.change(l)
		report, err := CheckLive(l, template, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range report.Findings {
			got = append(got, f.Rule)
			if f.File != "stack app" || f.Message == "" {
				t.Errorf("%s: incomplete finding %+v", s.name, f)
			}
		}
		if !slices.Equal(got, strings.Fields(s.rules)) {
			t.Errorf("%s: breaks %v, want %q", s.name, got, s.rules)
		}
	}
	if _, err := CheckLive(soundLive(), []byte("[]"), nil); err == nil {
		t.Error("a list is taken as a template")
	}
}
