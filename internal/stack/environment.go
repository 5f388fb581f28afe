package stack

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// variableName matches the names that Lambda accepts for a variable.
var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]+$`)

// reservedVariables are set by Lambda itself, which refuses other values for
// them.
var reservedVariables = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV",
	"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION",
	"AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "LAMBDA_RUNTIME_DIR",
	"LAMBDA_TASK_ROOT",
}

// dynamicReference matches what CloudFormation replaces by a stored value.
var dynamicReference = regexp.MustCompile(`\{\{resolve:[^{}]*\}\}`)

// environment reads the variables. A value that exists only in AWS becomes a
// placeholder, since the function may not need it.
func (t *template) environment(properties section) map[string]string {
	t.placeholders = true
	defer func() { t.placeholders = false }()
	variables := properties.section("Environment").section("Variables")
	environment := map[string]string{}
	for _, e := range entries(variables.node) {
		name := e.key.Value
		t.checkVariable(e.key, variables.path)
		v := variables.member(name)
		if v == nil {
			continue
		}
		environment[name] = t.text(v, variables.path+": "+name)
		if reference := dynamicReference.FindString(environment[name]); reference != "" {
			t.placeholder(e.value, reference, "%s: %s: a dynamic reference needs AWS", variables.path, name)
		}
	}
	return environment
}

func (t *template) checkVariable(key *yaml.Node, path string) {
	switch {
	case strings.HasPrefix(key.Value, "Fn::"): // its value is not a text: that error says more
	case slices.Contains(reservedVariables, key.Value):
		t.fail(key, "%s: %s is set by Lambda, which refuses it here: remove it or choose another name", path, key.Value)
	case !variableName.MatchString(key.Value):
		t.fail(key, "%s: %q: a name is two or more letters, digits, and _, with a letter first", path, key.Value)
	}
}
