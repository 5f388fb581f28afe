package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sqsafe/sqsafe/internal/stack"
)

// everyFunction is the name under which SAM's format sets variables for all.
const everyFunction = "Parameters"

// Variables override environment variables by function's logical id, or for
// every function under "Parameters", as the file of `sam local invoke -n` does.
type Variables map[string]map[string]string

// ReadVariables reads a file in SAM's format. Values may be strings, numbers or
// booleans.
func ReadVariables(path string) (Variables, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("environment file: %w", err)
	}
	var raw map[string]map[string]any
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf(`%s is empty; want {"FunctionLogicalId":{"NAME":"value"}}`, path)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a number is to stay as it is written
	if err := decoder.Decode(&raw); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("a JSON %s where an object belongs", wrong.Value)
		}
		return nil, fmt.Errorf(`%s: %w; want {"FunctionLogicalId":{"NAME":"value"}}`, path, err)
	}
	v := Variables{}
	for function, values := range raw {
		v[function] = map[string]string{}
		for name, value := range values {
			switch value.(type) {
			case string, json.Number, bool:
				v[function][name] = fmt.Sprint(value)
			default:
				return nil, fmt.Errorf("%s: %s of %s is %v; want a string", path, name, function, value)
			}
		}
	}
	return v, nil
}

// check refuses names that no function of the stack has: SAM drops them in
// silence, and the function then runs with the wrong value.
func (v Variables) check(s *stack.Stack) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		i := slices.IndexFunc(s.Functions, func(f stack.Function) bool { return f.LogicalID == name })
		if i < 0 && name != everyFunction {
			return fmt.Errorf("environment file: function %q is not in the template, or has no SQS event", name)
		}
		for variable := range v[name] {
			if i >= 0 {
				_, declared := s.Functions[i].Environment[variable]
				if !declared && !strings.HasPrefix(variable, endpointVariable) {
					return fmt.Errorf("environment file: %s does not declare %s; add it to the function's Environment",
						name, variable)
				}
			}
		}
	}
	return nil
}

// endpointVariable leads the SDKs to an endpoint; followed by _ and a service's
// name it is for that service only.
const endpointVariable = "AWS_ENDPOINT_URL"

// levelVariable is the level from which on a function logs. What succeeds at once
// is told at the lowest, and here everything is to be seen.
const levelVariable = "AWS_LAMBDA_LOG_LEVEL"

// environment is what the function's process gets.
func (v Variables) environment(f stack.Function, endpoints map[string]string) map[string]string {
	env := map[string]string{levelVariable: "DEBUG"}
	maps.Copy(env, f.Environment)
	maps.Copy(env, endpoints)
	for _, scope := range []string{everyFunction, f.LogicalID} {
		for name, value := range v[scope] {
			// Endpoints need no declaration: what the check lets pass is not to be dropped.
			if _, declared := env[name]; declared || strings.HasPrefix(name, endpointVariable) {
				env[name] = value
			}
		}
	}
	return env
}
