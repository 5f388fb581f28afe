package cli

import (
	"bytes"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/internal/local"
)

// eventsOfEachKind returns one event of each kind, with texts that could break the table.
func eventsOfEachKind() []local.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	id := "9b3c19b1-4b1a-70cc-1f33-4ff778505c2e"
	two, exact := 2.0, 1.2345
	none, one, both := 0, 1, 2
	long := "POST http://payments.example.com/charges:\nHTTP 503\t\x1b[31m" + strings.Repeat("again and ", 40)
	return []local.Event{
		{Kind: local.KindNote, Line: "template.yaml: left alone, since they exist in AWS only: Bucket"},
		{Kind: local.KindBuilding, Function: "Worker"},
		{Kind: local.KindReady, Address: "127.0.0.1:4570", Functions: []string{"Worker"}},
		{Kind: local.KindReady, Functions: []string{"Worker"}},
		{Kind: local.KindReady, Address: "127.0.0.1:4570", Tables: []string{"charges"},
			Queues:      map[string]string{"jobs": "http://127.0.0.1:4570/1/jobs", "dead": "http://127.0.0.1:4570/1/dead"},
			Environment: map[string]string{"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": "http://127.0.0.1:4570"}},
		{Kind: local.KindSent, Time: at, MessageID: id, Queue: "jobs", DelaySeconds: &two},
		{Kind: local.KindStarted, Function: "Worker", PID: 4711},
		{Kind: local.KindInvoked, Time: at, MessageID: id, Function: "Worker", ReceiveCount: 3},
		{Kind: local.KindOutput, Function: "Worker", Line: "a line of its own"},
		{Kind: local.KindOutcome, Time: at, MessageID: id, Outcome: "retry", Class: "retryable", Reason: "unavailable",
			Attempt: 2, DelaySeconds: &exact, Key: "k-1", Error: long},
		{Kind: local.KindOutcome, Time: at, MessageID: id, Outcome: "dead", Class: "unclassified", Reason: "unclassified"},
		{Kind: local.KindOutcome, Time: at, MessageID: id, Outcome: "crash", Class: "retryable", Reason: "panic",
			Attempt: 1, Error: "panic: no price", Stack: strings.Repeat("main.charge(...)\n\t/src/\x1b[31mmain.go:17\n", 12)},
		{Kind: local.KindVisibility, Time: at, MessageID: id, DelaySeconds: &two},
		{Kind: local.KindDead, Time: at, MessageID: id, DeadLetterQueue: "dead", Reason: "declined"},
		{Kind: local.KindFiltered, Time: at, MessageID: id, Function: "Worker", Reason: "no filter matches"},
		{Kind: local.KindDeleted, Time: at, MessageID: id, Queue: "jobs"},
		{Kind: local.KindCrash, Time: at, Function: "Worker", Queue: "jobs", MessageIDs: []string{id, "other"},
			Left: &both, Reason: "Runtime.ExitError", Error: "process ended by signal: killed"},
		{Kind: local.KindCrash, Time: at, Function: "Worker", Queue: "jobs", MessageIDs: []string{id, "other"},
			Left: &one, Reason: "Runtime.ExitError", Error: "process ended with exit status 2"},
		{Kind: local.KindCrash, Time: at, Function: "Worker", Queue: "jobs", MessageIDs: []string{id, "other"},
			Left: &none, Reason: "Runtime.ExitError", Error: "process ended with exit status 2"},
		{Kind: local.KindFailed, Time: at, Function: "Worker", Queue: "jobs", MessageIDs: []string{id},
			Left: &one, Reason: "errorString", Error: "no database"},
		{Kind: local.KindFailed, Time: at, Function: "Worker", Queue: "jobs", MessageIDs: []string{id},
			Reason: "errorString", Error: "nobody counts the messages of another engine"},
		{Kind: local.KindFailed, Time: at, Function: "Worker", Queue: "jobs", Error: long},
	}
}

func TestTextOfEachEvent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newTextPrinter(&out)
	for _, e := range eventsOfEachKind() {
		p.event(e)
	}
	p.summary(local.Summary{
		Jobs: 12, Done: 7, Duplicates: 1, Filtered: 1, Dead: map[string]int{"declined": 1, "redrive": 1},
		Attempts: 9, Crashes: 1, Left: 1,
	}, nil)
	golden(t, "events.golden", out.String())
}

// TestALongLineIsWrapped shows all of a line in a terminal of 80 columns.
func TestALongLineIsWrapped(t *testing.T) {
	t.Parallel()
	p := newTextPrinter(io.Discard)
	const indent = 38
	text := "attempt 2, retryable unavailable, next attempt in 1.2 s, key k-1, POST http://payments.example.com/" +
		strings.Repeat("long", 12) + ": HTTP 503 — später"
	for _, width := range []int{0, 200, 80, 68, 67, 40, 10, 1} {
		got := strings.Repeat(".", indent) + p.wrap(text, indent, width)
		lines := strings.Split(got, "\n")
		for i, line := range lines {
			if n := utf8.RuneCountInString(line); width > 1 && n > width && (i > 0 || width >= 68) && width > 0 {
				t.Errorf("width %d: line %q has %d characters", width, line, n)
			}
		}
		shown := strings.ReplaceAll(strings.ReplaceAll(got[indent:], "\n", ""), " ", "")
		if want := strings.ReplaceAll(text, " ", ""); shown != want {
			t.Errorf("width %d: it shows %q, want %q", width, shown, want)
		}
	}
	const want = "attempt 2, retryable unavailable, next\n      attempt in 1.2 s"
	if got := p.wrap("attempt 2, retryable unavailable, next attempt in 1.2 s", 6, 46); got != want {
		t.Errorf("wrapped:\n%s", got)
	}
}

func TestALostJobIsAnError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		summary local.Summary
		want    string
	}{
		{local.Summary{Lost: 1}, "1 message is lost: it left its queue, but neither done nor dead-lettered"},
		{local.Summary{Lost: 2, LostBecause: "no one reports failures"},
			"2 messages are lost: they left their queue, but neither done nor dead-lettered; no one reports failures"},
	} {
		if err := (&Local{}).report((&Local{JSON: true}).newPrinter(Streams{Out: io.Discard}), tt.summary); err == nil ||
			err.Error() != tt.want {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}

func TestFunctionsWithoutAttemptsHaveNoAttemptsRow(t *testing.T) {
	t.Parallel()
	names := func(s local.Summary) (names []string) {
		for _, r := range summaryRows(s) {
			names = append(names, r.Name)
		}
		return names
	}
	want := []string{"jobs in", "done", "duplicates recognised", "lost", "messages left"}
	if diff := cmp.Diff(want, names(local.Summary{Jobs: 1, Done: 1})); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestTextsAreCutToOneLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{" two\n\r\nlines\t ", "two lines"},
		{"\x1b[31mred\x07", `red\x07`},
		{"\u0085next\u00a0line", "next line"},
	} {
		if got := oneLine(tt.in); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.in, got, tt.want)
		}
	}
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"größer", 6, "größer"}, {"größer", 4, "grö…"}, {"größer", 1, "…"}, {"größer", 0, "größer"}} {
		if got := cut(tt.text, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d) is %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

func TestAgesAreReadable(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                               "0 s",
		59*time.Second + 999e6:          "59 s",
		61 * time.Second:                "1 min 1 s",
		3*time.Hour + 59*time.Minute:    "3 h 59 min",
		49*time.Hour + 30*time.Minute:   "2 d 1 h",
		14*24*time.Hour - 1*time.Minute: "13 d 23 h",
	} {
		if got := age(d); got != want {
			t.Errorf("%v reads %q, want %q", d, got, want)
		}
	}
}

func TestVersionPrintsTheBuildInfo(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
		{Key: "vcs.modified", Value: "true"},
	}}
	info.Main.Version = "v1.2.3"
	got := versionText(info)
	if !strings.HasPrefix(got, "sqsafe v1.2.3, commit abc with changes of 2026-01-02T03:04:05Z, go1.") {
		t.Errorf("version %q", got)
	}
	if got := versionText(nil); !strings.HasPrefix(got, "sqsafe unknown, go1.") {
		t.Errorf("version %q of a program without build info", got)
	}
}

func TestParseQueueReadsNameURLAndARN(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]queueName{
		"orders":                              {name: "orders"},
		"orders.fifo":                         {name: "orders.fifo"},
		"http://127.0.0.1:4570/1/orders":      {name: "orders", url: "http://127.0.0.1:4570/1/orders"},
		"arn:aws:sqs:eu-west-1:1:orders.fifo": {name: "orders.fifo", region: "eu-west-1", account: "1"},
		"https://sqs.eu-west-1.amazonaws.com/1/orders": {
			name: "orders", url: "https://sqs.eu-west-1.amazonaws.com/1/orders", region: "eu-west-1",
		},
		"https://sqs.cn-north-1.amazonaws.com.cn/1/q": {
			name: "q", url: "https://sqs.cn-north-1.amazonaws.com.cn/1/q", region: "cn-north-1",
		},
	} {
		got, err := parseQueue(text)
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "a b", "a/b", ".fifo", strings.Repeat("a", 81), strings.Repeat("a", 76) + ".fifo",
		"http://host", "arn:aws:sqs:eu-west-1:1", "arn:aws:sqs:eu-west-1:1:a:b", "://"} {
		if got, err := parseQueue(bad); err == nil || !strings.Contains(err.Error(), "want a") {
			t.Errorf("%q is %+v, %v", bad, got, err)
		}
	}
}

func FuzzParseQueue(f *testing.F) {
	f.Add("orders.fifo")
	f.Add("https://sqs.eu-west-1.amazonaws.com/1/orders")
	f.Add("arn:aws:sqs:eu-west-1:1:orders")
	f.Add("http://sqs..amazonaws.com/1/orders")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseQueue(text)
		if err == nil && (q.name == "" || len(q.name) > 80) {
			t.Errorf("%q gives the name %q", text, q.name)
		}
	})
}
