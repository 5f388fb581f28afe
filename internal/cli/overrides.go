package cli

import (
	"fmt"
	"strings"
	"unicode"
)

// overrides parses parameters in the forms that SAM accepts: NAME=VALUE,
// several of them in one argument, and ParameterKey=NAME,ParameterValue=VALUE.
// A value with spaces is in quotes.
func overrides(arguments []string) (map[string]string, error) {
	parameters := map[string]string{}
	for _, argument := range arguments {
		split, err := fields(argument)
		if err != nil {
			return nil, err
		}
		for _, field := range split {
			name, value, ok := strings.Cut(field, "=")
			if name == "ParameterKey" {
				name, value, ok = strings.Cut(value, ",ParameterValue=")
			}
			if !ok || name == "" {
				return nil, fmt.Errorf("parameter override %q: want NAME=VALUE", field)
			}
			parameters[name] = value
		}
	}
	return parameters, nil
}

// fields splits at white space outside of quotes and removes the quotes.
func fields(s string) ([]string, error) {
	var out []string
	var field strings.Builder
	var quote rune
	started := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, started = r, true
		case quote == 0 && unicode.IsSpace(r):
			if started {
				out = append(out, field.String())
			}
			field.Reset()
			started = false
		default:
			field.WriteRune(r)
			started = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("parameter override %s: the quote %c is not closed", s, quote)
	}
	if started {
		out = append(out, field.String())
	}
	return out, nil
}
