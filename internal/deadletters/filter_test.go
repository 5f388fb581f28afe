package deadletters_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/internal/deadletters"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func exampleLetter() *deadletters.Letter {
	return &deadletters.Letter{
		ID: "dl-1", Kind: deadletters.KindRecorded, Events: 1, Source: "arn:aws:sqs:eu-west-1:1:orders", Group: "g",
		Record: dlq.Record{
			MessageID: "m-1", DeliveredID: "m-2", FunctionVersion: "7",
			Failure: handler.Failure{
				Class: "permanent", Reason: "rejected", Rule: "http.4xx", Message: "HTTP 422", Types: []string{"*fault.HTTPError"},
				Codes: fault.Codes{HTTPStatus: 422}, Fingerprint: "d38e7512a958", Key: "o-1", Last: handler.NewTimestamp(noon),
			},
		},
		Message: &deadletters.Message{Body: `{"order":{"country":"DE","lines":[{"sku":"a"},7,1.50,true,null]},"a.b":1}`},
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		filter deadletters.Filter
		want   bool
	}{
		"all":                  {deadletters.Filter{}, true},
		"id":                   {deadletters.Filter{IDs: []string{"x", "dl-1"}}, true},
		"original id":          {deadletters.Filter{IDs: []string{"m-1"}}, true},
		"delivered id":         {deadletters.Filter{IDs: []string{"m-2"}}, true},
		"key":                  {deadletters.Filter{IDs: []string{"o-1"}}, true},
		"id of the job":        {deadletters.Filter{IDs: []string{"orders#o-1"}}, true},
		"begin of an id":       {deadletters.Filter{IDs: []string{"dl"}, IDBegin: "dl"}, true},
		"begin of the first":   {deadletters.Filter{IDs: []string{"m-"}, IDBegin: "m-"}, true},
		"begin of another":     {deadletters.Filter{IDs: []string{"n-"}, IDBegin: "n-"}, false},
		"begin of a key":       {deadletters.Filter{IDs: []string{"o-"}, IDBegin: "o-"}, false},
		"another id":           {deadletters.Filter{IDs: []string{"m-3", ""}}, false},
		"kind":                 {deadletters.Filter{Kinds: []string{"recorded"}}, true},
		"another kind":         {deadletters.Filter{Kinds: []string{"moved"}}, false},
		"one of several":       {deadletters.Filter{Reasons: []string{"exhausted", "rejected"}}, true},
		"another reason":       {deadletters.Filter{Reasons: []string{"exhausted"}}, false},
		"class":                {deadletters.Filter{Classes: []string{"retryable"}}, false},
		"rule":                 {deadletters.Filter{Rules: []string{"http.5xx"}}, false},
		"code":                 {deadletters.Filter{Codes: []string{"422"}}, true},
		"another code":         {deadletters.Filter{Codes: []string{"42"}}, false},
		"type":                 {deadletters.Filter{Types: []string{"*fault.HTTPError"}}, true},
		"version":              {deadletters.Filter{Versions: []string{"6"}}, false},
		"message group":        {deadletters.Filter{Groups: []string{"g"}}, true},
		"source":               {deadletters.Filter{Sources: []string{"orders"}}, true},
		"another source":       {deadletters.Filter{Sources: []string{"mails"}}, false},
		"fingerprint":          {deadletters.Filter{Fingerprints: []string{"d38e"}}, true},
		"another fingerprint":  {deadletters.Filter{Fingerprints: []string{"38e"}}, false},
		"since":                {deadletters.Filter{Since: noon}, true},
		"since later":          {deadletters.Filter{Since: noon.Add(1)}, false},
		"until":                {deadletters.Filter{Until: noon}, false},
		"until later":          {deadletters.Filter{Until: noon.Add(1)}, true},
		"text in the error":    {deadletters.Filter{Text: "http 4"}, true},
		"text in the body":     {deadletters.Filter{Text: `country":"de`}, true},
		"text nowhere":         {deadletters.Filter{Text: "FR"}, false},
		"all of several":       {deadletters.Filter{Reasons: []string{"rejected"}, Kinds: []string{"moved"}}, false},
		"member":               {where(t, "order.country=DE"), true},
		"another value":        {where(t, "order.country=FR"), false},
		"not a value":          {where(t, "order.country!=FR"), true},
		"not this value":       {where(t, "order.country!=DE"), false},
		"without the member":   {where(t, "order.city=DE"), false},
		"not, without it":      {where(t, "order.city!=DE"), true},
		"in an array":          {where(t, "order.lines.0.sku=a"), true},
		"number":               {where(t, "order.lines.1=7"), true},
		"number as written":    {where(t, "order.lines.2=1.50"), true},
		"number, not as value": {where(t, "order.lines.2=1.5"), false},
		"boolean":              {where(t, "order.lines.3=true"), true},
		"null":                 {where(t, "order.lines.4=null"), true},
		"object":               {where(t, "order="), false},
		"past the end":         {where(t, "order.lines.5=7"), false},
		"below a text":         {where(t, "order.country.x=7"), false},
		"two members":          {where(t, "order.country=DE", "order.lines.1=8"), false},
	} {
		if got := tt.filter.Match(exampleLetter()); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if tt.filter.IsZero() != (name == "all") {
			t.Errorf("%s: is zero: %v", name, tt.filter.IsZero())
		}
	}
	noJSON := exampleLetter()
	noJSON.Message.Body = "{"
	if f := where(t, "a!=b"); f.Match(noJSON) {
		t.Error("a body that is no JSON has members")
	}
}

func where(t *testing.T, conditions ...string) (f deadletters.Filter) {
	t.Helper()
	for _, text := range conditions {
		c, err := deadletters.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		f.Where = append(f.Where, c)
	}
	return f
}

func TestParseConditionRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "=b", "!=b", "a..b=c", ".a=c"} {
		if _, err := deadletters.ParseCondition(text); err == nil || !strings.Contains(err.Error(), "order.country=DE") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	var letters []*deadletters.Letter
	add := func(group string, minutes int, change func(*deadletters.Letter)) {
		l := exampleLetter()
		l.Record.Fingerprint, l.Record.Last = group, handler.NewTimestamp(noon.Add(time.Duration(minutes)*time.Minute))
		l.ID = group + l.Record.Last.Format("-04")
		l.Expires = l.Record.Last.Add(14 * 24 * time.Hour)
		if change != nil {
			change(l)
		}
		letters = append(letters, l)
	}
	add("one", 3, nil)
	add("two", 2, func(l *deadletters.Letter) { l.Ledger, l.Record.Epoch = deadletters.LedgerDead, 2 })
	add("two", 5, func(l *deadletters.Letter) { l.Ledger, l.Record.FunctionVersion = deadletters.LedgerDone, "6" })
	add("two", 1, func(l *deadletters.Letter) { l.Ledger, l.Events = deadletters.LedgerUnnamed, 4 })
	want := []deadletters.Group{
		{
			Fingerprint: "two", Kind: "recorded", Count: 3, Events: 6, Class: "permanent", Reason: "rejected",
			Rule: "http.4xx", Error: "HTTP 422", Codes: []string{"422"}, Example: "two-05", Versions: []string{"6", "7"},
			First: noon.Add(time.Minute), Last: noon.Add(5 * time.Minute),
			Expires: noon.Add(time.Minute + 14*24*time.Hour), Again: 1, Most: 2, Done: 1, Asked: 2,
		},
		{
			Fingerprint: "one", Kind: "recorded", Count: 1, Class: "permanent", Reason: "rejected",
			Rule: "http.4xx", Error: "HTTP 422", Codes: []string{"422"}, Example: "one-03", Versions: []string{"7"},
			First: noon.Add(3 * time.Minute), Last: noon.Add(3 * time.Minute),
			Expires: noon.Add(3*time.Minute + 14*24*time.Hour),
		},
	}
	if diff := cmp.Diff(want, deadletters.Groups(letters)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
