package dlqui

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// filterFields are the fields of an address that select letters, with their labels.
var filterFields = []struct{ Name, Label, Hint string }{
	{"text", "Text", "in the payload, error, key or ids"},
	{"where", "Payload", "such as order.country=DE"},
	{"reason", "Reason", "such as rejected"},
	{"rule", "Rule", ""},
	{"code", "Code", "such as 422"},
	{"version", "Function version", ""},
	{"since", "Died since", "such as 2h, 3d or 2026-11-30"},
	{"until", "Died before", "such as 30m or 2026-11-30T18:00"},
}

// filterNames are all fields that select letters.
var filterNames = []string{
	"text", "where", "reason", "class", "rule", "code", "type", "version", "messagegroup", "source", "kind", "group",
	"since", "until", "id",
}

// parseFilter reads the filter of an address. Empty fields count as absent.
func parseFilter(v url.Values) (deadletters.Filter, error) {
	get := func(name string) []string {
		var values []string
		for _, value := range v[name] {
			if value = strings.TrimSpace(value); value != "" {
				values = append(values, value)
			}
		}
		return values
	}
	f := deadletters.Filter{
		IDs: get("id"), Kinds: get("kind"), Reasons: get("reason"), Classes: get("class"), Rules: get("rule"),
		Codes: get("code"), Types: get("type"), Versions: get("version"), Groups: get("messagegroup"),
		Sources: get("source"), Fingerprints: get("group"), Text: strings.TrimSpace(v.Get("text")),
	}
	now := time.Now()
	for name, at := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		text := strings.TrimSpace(v.Get(name))
		if text == "" {
			continue
		}
		var err error
		if *at, err = deadletters.ParseTime(text, now); err != nil {
			return f, err
		}
	}
	for _, text := range get("where") {
		c, err := deadletters.ParseCondition(text)
		if err != nil {
			return f, err
		}
		f.Where = append(f.Where, c)
	}
	return f, nil
}

// selecting returns the fields of an address that select letters, without empty ones.
func selecting(v url.Values) url.Values {
	kept := url.Values{}
	for _, name := range filterNames {
		for _, value := range v[name] {
			if value = strings.TrimSpace(value); value != "" {
				kept.Add(name, value)
			}
		}
	}
	return kept
}

// field is a name and a value of a form.
type field struct{ Name, Value string }

// fields returns values as hidden fields of a form.
func fields(v url.Values) []field {
	var list []field
	for _, name := range filterNames {
		for _, value := range v[name] {
			list = append(list, field{name, value})
		}
	}
	return list
}

// describe says in words what an address selects.
func describe(v url.Values) string {
	var parts []string
	for _, f := range fields(v) {
		if f.Name == "id" {
			continue
		}
		parts = append(parts, f.Name+" "+f.Value)
	}
	if n := len(v["id"]); n == 1 {
		parts = append(parts, "letter "+v.Get("id"))
	} else if n > 1 {
		parts = append(parts, fmt.Sprint(n, " letters"))
	}
	return strings.Join(parts, ", ")
}

const (
	// defaultRate is how many letters a replay sends in a second.
	defaultRate = 10
	maxRate     = 3000
	// maxStep and maxSteps bound the steps of a replay.
	maxStep  = 100_000
	maxSteps = 20
)

// sending is how a replay is to be done.
type sending struct {
	rate  float64
	steps []int
	why   string
}

// parseSending reads the fields of a replay.
func parseSending(v url.Values) (sending, error) {
	o := sending{rate: defaultRate, why: strings.TrimSpace(v.Get("why"))}
	if text := strings.TrimSpace(v.Get("rate")); text != "" {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate > 0 && rate <= maxRate) {
			return o, fmt.Errorf("letters per second %q: want a number above 0, up to %d", text, maxRate)
		}
		o.rate = rate
	}
	text := strings.TrimSpace(v.Get("steps"))
	if text == "" || text == "0" {
		return o, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > maxStep || len(o.steps) == maxSteps {
			return o, fmt.Errorf("steps %q: want up to %d numbers from 1 to %d, such as 1 or 1,10,100", text, maxSteps, maxStep)
		}
		o.steps = append(o.steps, n)
	}
	return o, nil
}

// parsePage reads the number of a page of a list, from 1; what is no such number is 1.
func parsePage(v url.Values) int {
	n, err := strconv.Atoi(v.Get("page"))
	if err != nil || n < 1 || n > 1_000_000 {
		return 1
	}
	return n
}

// path returns the address of a view of a queue.
func path(queue, view string, values url.Values) string {
	address := "/q/" + url.PathEscape(queue)
	if view != "" {
		address += "/" + view
	}
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	return address
}

// with returns the values with another one.
func with(v url.Values, name, value string) url.Values {
	more := url.Values{}
	for key, values := range v {
		more[key] = slices.Clone(values)
	}
	more.Set(name, value)
	return more
}
