package deadletters

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter selects letters. The zero value selects all; a letter must match all that is set.
type Filter struct {
	// IDs selects letters by their id, their original id, or the key of their job.
	IDs []string
	// IDBegin selects letters by the begin of their id or original id as well.
	IDBegin string
	// Kinds, Reasons, Classes, Rules, Codes, Types (of errors), Versions (of the function),
	// Groups (of messages) and Sources (names of queues) select letters that have one of
	// the values.
	Kinds, Reasons, Classes, Rules, Codes, Types, Versions, Groups, Sources []string
	// Fingerprints selects by the beginning of the fingerprint.
	Fingerprints []string
	// Since and Until select by the time of death: not before, and before.
	Since, Until time.Time
	// Text selects letters with the text in their body, error, key or ids, whatever its
	// case.
	Text string
	// Where selects by members of a JSON body.
	Where []Condition
}

// Match reports whether the filter selects the letter. The letter must have its message if
// Text or Where is set.
func (f *Filter) Match(l *Letter) bool {
	r := &l.Record
	died := l.Died()
	return (len(f.IDs) == 0 || f.names(l)) &&
		oneOf(f.Kinds, string(l.Kind)) && oneOf(f.Reasons, r.Reason) && oneOf(f.Classes, r.Class) &&
		oneOf(f.Rules, r.Rule) && anyOf(f.Codes, r.Codes.All()) && anyOf(f.Types, r.Types) &&
		oneOf(f.Versions, r.FunctionVersion) && oneOf(f.Groups, l.Group) && oneOf(f.Sources, l.SourceName()) &&
		(len(f.Fingerprints) == 0 || slices.ContainsFunc(f.Fingerprints, func(p string) bool {
			return strings.HasPrefix(r.Fingerprint, p)
		})) &&
		(f.Since.IsZero() || !died.Before(f.Since)) && (f.Until.IsZero() || died.Before(f.Until)) &&
		f.hasText(l) && f.hasMembers(l)
}

// IsZero reports whether the filter selects all letters.
func (f *Filter) IsZero() bool {
	return len(f.IDs)+len(f.Kinds)+len(f.Reasons)+len(f.Classes)+len(f.Rules)+len(f.Codes)+len(f.Types)+
		len(f.Versions)+len(f.Groups)+len(f.Sources)+len(f.Fingerprints)+len(f.Where) == 0 &&
		f.Since.IsZero() && f.Until.IsZero() && f.Text == ""
}

func (f *Filter) names(l *Letter) bool {
	return slices.Contains(f.IDs, l.ID) || slices.Contains(f.IDs, l.OriginalID()) ||
		l.Record.DeliveredID != "" && slices.Contains(f.IDs, l.Record.DeliveredID) ||
		l.Record.Key != "" && slices.Contains(f.IDs, l.Record.Key) ||
		l.JobID() != "" && slices.Contains(f.IDs, l.JobID()) ||
		f.IDBegin != "" && (strings.HasPrefix(l.ID, f.IDBegin) || strings.HasPrefix(l.OriginalID(), f.IDBegin))
}

func oneOf(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

func anyOf(wanted, values []string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(wanted, v) })
}

func (f *Filter) hasText(l *Letter) bool {
	if f.Text == "" {
		return true
	}
	text := strings.ToLower(f.Text)
	within := []string{l.Record.Message, l.Record.Key, l.ID, l.OriginalID()}
	if l.Message != nil {
		within = append(within, l.Message.Body)
	}
	return slices.ContainsFunc(within, func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

func (f *Filter) hasMembers(l *Letter) bool {
	if len(f.Where) == 0 {
		return true
	}
	if l.Message == nil {
		return false
	}
	decoder := json.NewDecoder(strings.NewReader(l.Message.Body))
	decoder.UseNumber()
	var body any
	if decoder.Decode(&body) != nil {
		return false
	}
	return !slices.ContainsFunc(f.Where, func(c Condition) bool { return !c.match(body) })
}

// Condition compares a member of a JSON body with a value.
type Condition struct {
	// Path names the members from the outermost object inwards; in an array a number is
	// the place of an element, from 0.
	Path []string
	// Not selects what does not have the value, also for want of the member.
	Not   bool
	Value string
}

// ParseCondition reads PATH=VALUE or PATH!=VALUE, such as order.country=DE. The value is
// compared as a text: numbers as they are written, true, false, null.
func ParseCondition(text string) (Condition, error) {
	path, value, ok := strings.Cut(text, "=")
	c := Condition{Value: value}
	path, c.Not = strings.CutSuffix(path, "!")
	c.Path = strings.Split(path, ".")
	if !ok || slices.Contains(c.Path, "") {
		return c, fmt.Errorf("condition %q: want MEMBER=VALUE or MEMBER!=VALUE, such as order.country=DE", text)
	}
	return c, nil
}

func (c *Condition) match(body any) bool {
	value, ok := member(body, c.Path)
	return (ok && value == c.Value) != c.Not
}

// member returns the text of a scalar in a JSON value.
func member(value any, path []string) (string, bool) {
	for _, name := range path {
		switch v := value.(type) {
		case map[string]any:
			inner, ok := v[name]
			if !ok {
				return "", false
			}
			value = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return "", false
			}
			value = v[i]
		default:
			return "", false
		}
	}
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case nil:
		return "null", true
	default:
		return "", false
	}
}
