package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// parseNumeric parses one comparison, or a lower and an upper bound.
func parseNumeric(argument json.RawMessage) (rule, error) {
	var items []json.RawMessage
	if json.Unmarshal(argument, &items) != nil || len(items) != 2 && len(items) != 4 {
		return nil, errors.New(`numeric takes one or two comparisons, as in [">",0,"<=",5]`)
	}
	var r numeric
	for pair := range slices.Chunk(items, 2) {
		b, err := parseBound(pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		r.bounds = append(r.bounds, b)
	}
	if len(r.bounds) == 2 {
		return r, checkRange(r.bounds[0], r.bounds[1])
	}
	return r, nil
}

func parseBound(operator, limit json.RawMessage) (bound, error) {
	name, _ := asText(operator)
	if !slices.Contains([]string{"=", "<", "<=", ">", ">="}, name) {
		return bound{}, fmt.Errorf("numeric: no comparison %.20q: use =, <, <=, > or >=", name)
	}
	text, ok := scalarOf(limit).(json.Number)
	if !ok {
		return bound{}, fmt.Errorf("numeric: what follows %s is not a number", name)
	}
	n, err := text.Float64()
	if err != nil || n < -maxNumber || n > maxNumber {
		return bound{}, fmt.Errorf("numeric: %s is outside of -5e9 to 5e9, what is compared", text)
	}
	return bound{name, n}, nil
}

func checkRange(low, high bound) error {
	switch {
	case low.operator[0] != '>' || high.operator[0] != '<':
		return errors.New("numeric: a range is a > or >= and then a < or <=")
	case low.limit >= high.limit:
		return fmt.Errorf("numeric: nothing lies above %v and below %v", low.limit, high.limit)
	}
	return nil
}
