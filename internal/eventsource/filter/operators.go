package filter

import (
	"encoding/json"
	"errors"
	"fmt"
)

// operators lists the rules that are written as an object.
const operators = "anything-but, equals-ignore-case, exists, numeric, prefix, suffix, wildcard"

// reader returns the parser of an operator's argument, or nil for an unknown
// operator.
func reader(operator string) func(json.RawMessage) (rule, error) {
	switch operator {
	case "anything-but":
		return parseAnythingBut
	case "equals-ignore-case":
		return parseFold
	case "exists":
		return parseExists
	case "numeric":
		return parseNumeric
	case "prefix":
		return parsePrefix
	case "suffix":
		return parseSuffix
	case "wildcard":
		return parseWildcard
	}
	return nil
}

func parseOperator(members map[string]json.RawMessage) (rule, error) {
	if len(members) != 1 {
		return nil, fmt.Errorf("a rule has one operator, not %d: write several rules side by side", len(members))
	}
	for name, argument := range members {
		if read := reader(name); read != nil {
			return read(argument)
		}
		return nil, fmt.Errorf("no rule %q: there are %s", name, operators)
	}
	return nil, nil // not reached: the object has one member
}

func parsePrefix(argument json.RawMessage) (rule, error) {
	text, fold, err := affix("prefix", argument)
	return prefix{text, fold}, err
}

func parseSuffix(argument json.RawMessage) (rule, error) {
	text, fold, err := affix("suffix", argument)
	return suffix{text, fold}, err
}

// affix parses a text, or the text of {"equals-ignore-case": "text"}.
func affix(operator string, argument json.RawMessage) (text string, fold bool, err error) {
	if text, ok := asText(argument); ok {
		return text, false, nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(argument, &members) == nil && len(members) == 1 {
		if text, ok := asText(members["equals-ignore-case"]); ok {
			return text, true, nil
		}
	}
	return "", false, needsText(operator)
}

func parseFold(argument json.RawMessage) (rule, error) {
	text, ok := asText(argument)
	if !ok {
		return nil, needsText("equals-ignore-case")
	}
	return fold{text}, nil
}

func parseWildcard(argument json.RawMessage) (rule, error) {
	text, ok := asText(argument)
	if !ok {
		return nil, needsText("wildcard")
	}
	return newWildcard(text)
}

func parseExists(argument json.RawMessage) (rule, error) {
	wanted, ok := scalarOf(argument).(bool)
	if !ok {
		return nil, errors.New("exists takes true or false")
	}
	return exists{wanted}, nil
}

// parseAnythingBut parses values of one type, or a rule for texts that must not
// accept the value for any of its texts.
func parseAnythingBut(argument json.RawMessage) (rule, error) {
	if argument[0] == '{' {
		return parseNoneOf(argument)
	}
	values := list(argument)
	if len(values) == 0 {
		return nil, errors.New("anything-but takes a value or a list of values")
	}
	var but anythingBut
	_, texts := scalarOf(values[0]).(string)
	for _, item := range values {
		v := scalarOf(item)
		_, isText := v.(string)
		_, isNumber := v.(json.Number)
		if isText != texts || !isText && !isNumber {
			return nil, errors.New("anything-but takes texts only or numbers only")
		}
		but.rules = append(but.rules, exact{v})
	}
	return but, nil
}

func parseNoneOf(argument json.RawMessage) (rule, error) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(argument, &members) // cannot fail: an object of a valid document
	var but anythingBut
	for name, texts := range members {
		read := reader(name)
		if read == nil || len(members) != 1 || name == "numeric" || name == "exists" || name == "anything-but" {
			break
		}
		for _, text := range list(texts) {
			if _, ok := asText(text); !ok {
				return nil, fmt.Errorf("anything-but: %w", needsText(name))
			}
			r, err := read(text)
			if err != nil {
				return nil, fmt.Errorf("anything-but: %w", err)
			}
			but.rules = append(but.rules, r)
		}
	}
	if len(but.rules) == 0 {
		return nil, errors.New("anything-but takes values, or one of equals-ignore-case, prefix, suffix, wildcard")
	}
	return but, nil
}

// list returns the items of a list, or the value itself.
func list(value json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) == nil && items != nil {
		return items
	}
	return []json.RawMessage{value}
}

// scalarOf returns nil if the value is not a scalar.
func scalarOf(value json.RawMessage) any {
	if len(value) == 0 || value[0] == '{' || value[0] == '[' {
		return nil
	}
	return scalar(value)
}

func asText(value json.RawMessage) (string, bool) {
	text, ok := scalarOf(value).(string)
	return text, ok
}

func needsText(operator string) error { return fmt.Errorf("%s takes a text", operator) }
