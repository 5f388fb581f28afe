package runtimeapi

import (
	"maps"
	"os"
	"slices"
	"strconv"
)

// environment returns the environment of the child process: the variables that
// Lambda sets and the function's own, and none of the parent's.
func environment(o Options, directory, address string) []string {
	vars := map[string]string{
		"AWS_ACCESS_KEY_ID":               "local",
		"AWS_DEFAULT_REGION":              o.Region,
		"AWS_EXECUTION_ENV":               "AWS_Lambda_provided.al2023",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(o.MemoryMB),
		"AWS_LAMBDA_FUNCTION_NAME":        o.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + o.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      "local",
		"AWS_REGION":                      o.Region,
		"AWS_SECRET_ACCESS_KEY":           "local",
		"HOME":                            os.TempDir(),
		"LAMBDA_TASK_ROOT":                directory,
		"LANG":                            "en_US.UTF-8",
		"PATH":                            "/usr/local/bin:/usr/bin:/bin",
		"TMPDIR":                          os.TempDir(),
		"TZ":                              ":UTC",
		"_HANDLER":                        "bootstrap",
	}
	maps.Copy(vars, o.Environment)
	vars["AWS_LAMBDA_RUNTIME_API"] = address
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}
