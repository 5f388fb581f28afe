package dlqui

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

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
}

// filterNames are all fields that select letters.
var filterNames = []string{
	"text", "where", "reason", "class", "rule", "code", "type", "version", "messagegroup", "source", "kind", "group", "id",
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
	maxCanary   = 1000
)

// sending is how a replay is to be done.
type sending struct {
	rate   float64
	canary int
	why    string
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
	if text := strings.TrimSpace(v.Get("canary")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxCanary {
			return o, fmt.Errorf("canary %q: want a number from 0 to %d", text, maxCanary)
		}
		o.canary = n
	}
	return o, nil
}

func (s sending) steps() []int {
	if s.canary == 0 {
		return nil
	}
	return []int{s.canary}
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
