package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// AWS limits.
const (
	maxFilters = 5    // per mapping; AWS raises it to 10 on request
	maxPattern = 4096 // characters
)

// Criteria are the patterns of one mapping; a message must match one of them.
// They are safe for concurrent use.
type Criteria struct{ patterns []*object }

// Parse parses one to five patterns. If there are several, the error has the
// index of the first invalid one, counted from 0.
func Parse(patterns ...string) (*Criteria, error) {
	switch {
	case len(patterns) == 0:
		return nil, errors.New("filter criteria without a pattern: write one, or leave the criteria out")
	case len(patterns) > maxFilters:
		return nil, fmt.Errorf("%d filter patterns: Lambda takes at most %d", len(patterns), maxFilters)
	}
	c := &Criteria{}
	for i, text := range patterns {
		p, err := parse(text)
		if err != nil && len(patterns) > 1 {
			return nil, fmt.Errorf("filter pattern %d: %w", i, err)
		}
		if err != nil {
			return nil, fmt.Errorf("filter pattern: %w", err)
		}
		c.patterns = append(c.patterns, p)
	}
	return c, nil
}

func parse(text string) (*object, error) {
	if n := utf8.RuneCountInString(text); n > maxPattern {
		return nil, fmt.Errorf("%d characters: Lambda takes at most %d", n, maxPattern)
	}
	var members map[string]json.RawMessage
	if !json.Valid([]byte(text)) {
		return nil, errors.New(`not JSON: write an object such as {"body":{"type":["order"]}}`)
	}
	if json.Unmarshal([]byte(text), &members) != nil || members == nil {
		return nil, errors.New(`not an object: write one such as {"body":{"type":["order"]}}`)
	}
	p, err := parseObject("", members)
	if err != nil {
		return nil, err
	}
	return p, onlyBody(p)
}

// onlyBody returns an error for patterns on other members of the record.
func onlyBody(p *object) error {
	for _, f := range p.fields {
		if f.name != "body" {
			return fmt.Errorf("%q cannot be filtered: on SQS it is the body alone, as in {%q:…}", f.name, "body")
		}
	}
	for _, alternatives := range p.either {
		for _, a := range alternatives {
			if err := onlyBody(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reason says why a message matches no pattern.
type Reason string

// The reasons.
const (
	// Matched: the message matches.
	Matched Reason = ""
	// Unmatched: no pattern for the message's format matches its content.
	Unmatched Reason = "no filter pattern matches the body"
	// WantsJSON: all patterns are for JSON and the message is plain text.
	WantsJSON Reason = "the body is plain text where the filter pattern expects JSON"
	// WantsText: all patterns are for plain text and the message is JSON.
	WantsText Reason = "the body is JSON where the filter pattern expects plain text"
)

// Match compares a message's body with the patterns. A body is JSON if it
// parses as an object or a list; a number or a word alone is plain text.
func (c *Criteria) Match(body string) Reason {
	content, isJSON := decode(body)
	sameFormat := false
	for _, p := range c.patterns {
		e := evaluation{body: content, json: isJSON}
		if e.matches(p) {
			return Matched
		}
		sameFormat = sameFormat || e.sameFormat
	}
	switch {
	case sameFormat:
		return Unmatched
	case isJSON:
		return WantsText
	}
	return WantsJSON
}

// decode returns the body as the rules see it: a JSON value, or the text
// itself.
func decode(body string) (content any, isJSON bool) {
	trimmed := strings.TrimLeft(body, " \t\r\n")
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		d := json.NewDecoder(strings.NewReader(body))
		d.UseNumber() // exact rules compare numbers by their text
		if json.Valid([]byte(body)) && d.Decode(&content) == nil {
			return content, true
		}
	}
	return body, false
}
